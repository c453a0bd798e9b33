// The host's programs as every sandbox sees them: /usr read-only, and the top-level folders that on
// this host are links into it (merged /usr) or folders of their own.

import { lstatSync, readdirSync, readlinkSync } from "node:fs";
import type { SandboxSpec } from "../sandbox/mod.ts";

export function systemView(): SandboxSpec["system"] {
  const names = readdirSync("/").filter((name) => /^(bin|sbin|lib[0-9a-z]*)$/.test(name));
  const links: { target: string; view: string }[] = [];
  const binds = [{ host: "/usr", view: "/usr", access: "ro" as const }];
  for (const name of names.sort()) {
    const path = `/${name}`;
    const facts = lstatSync(path);
    if (facts.isSymbolicLink()) links.push({ target: readlinkSync(path), view: path });
    else if (facts.isDirectory()) binds.push({ host: path, view: path, access: "ro" });
  }
  return { binds, links };
}
