// The throw-away world of the demonstration: a folder under the system's temporary one that holds a
// tree, its configuration, its keys, its live state and a small workspace. Nothing outside of it is
// touched. As root the tree's agents and the workspace belong to an unprivileged uid.

import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export const top = resolve(import.meta.dir, "../..");

/** Whom root gives the workspace to; bootstrap takes the same uid by itself on a bare machine. */
const rootOwnerUid = 61184;

export interface Stage {
  readonly base: string;
  readonly source: string;
  readonly config: string;
  readonly secrets: string;
  readonly workspace: string;
  /** A copy of the workspace as it was before the agent came. */
  readonly before: string;
  readonly uid: number;
  readonly env: Record<string, string>;
  remove(): void;
}

const workspaceFiles: Readonly<Record<string, string>> = {
  "notes.md": "# Notes\n\nDONE: write the greeting\nTODO: name the port that the server uses\n",
  "server.sh": '#!/bin/sh\n# Serves the greeting.\nport=8080\necho "hello on port $port"\n',
};

export function setStage(): Stage {
  const isRoot = process.getuid?.() === 0;
  const uid = isRoot ? rootOwnerUid : (process.getuid?.() ?? 0);
  const base = mkdtempSync(join(tmpdir(), "cortexfs-demo-"));
  // The agent's uid has to pass through, and nobody else finds anything to write.
  chmodSync(base, 0o755);
  const at = (name: string) => join(base, name);
  for (const name of ["config", "home", "work"]) mkdirSync(at(name));
  mkdirSync(at("secrets"), { mode: 0o700 });
  mkdirSync(at("run"), { mode: isRoot ? 0o755 : 0o700 });
  for (const [name, text] of Object.entries(workspaceFiles)) {
    writeFileSync(join(at("work"), name), text);
  }
  cpSync(at("work"), at("before"), { recursive: true });
  if (isRoot) {
    for (const name of ["", ...readdirSync(at("work"))])
      chownSync(join(at("work"), name), uid, uid);
  }
  return {
    base,
    source: at("tree"),
    config: at("config"),
    secrets: at("secrets"),
    workspace: at("work"),
    before: at("before"),
    uid,
    env: {
      // The tree's own programs once it has them: as root, the agents' uid can reach those wherever
      // this checkout is.
      PATH: `${at("tree")}/bin:${join(top, "dist")}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
      HOME: at("home"),
      LANG: "C.UTF-8",
      TERM: process.env["TERM"] ?? "dumb",
      ...(process.env["NO_COLOR"] === undefined ? {} : { NO_COLOR: "1" }),
      CTX_SOURCE: at("tree"),
      CTX_RUNTIME_DIR: at("run"),
      CTX_CONFIG_DIR: at("config"),
      CTX_SECRETS_DIR: at("secrets"),
    },
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}
