// Manifests with their executables, as somebody wrote them into a folder of their own, for the tests
// of installing.

import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const sha256 = (content: string | Uint8Array): string =>
  createHash("sha256").update(content).digest("hex");

export interface Candidate {
  readonly name: string;
  readonly class: "tool" | "agent";
  readonly executable: string;
  readonly controls: Readonly<Record<string, unknown>>;
  /** Laid over the manifest; undefined takes a field away. */
  readonly manifest: Readonly<Record<string, unknown>>;
}

const toolControls = {
  description: "Opens a box",
  schema: { type: "object" },
  cap: ["read"],
  policy: "",
};

const agentControls = {
  perm: "r--",
  label: "boxer_t",
  path: ["/ctx/tool"],
  model: ["debug/echo"],
  window: "auto",
  policy: [],
  abi: "sdk-envelope-v1",
  "system.md": "You open boxes.\n",
};

/** Writes manifest and executable and gives the manifest's path. */
export function writeCandidate(folder: string, said: Partial<Candidate> = {}): string {
  const kind = said.class ?? "tool";
  const name = said.name ?? "box.open";
  const executable = said.executable ?? "#!/bin/sh\necho open\n";
  const own = kind === "tool" ? toolControls : agentControls;
  const manifest = {
    schema: "cortexfs.object/v2",
    class: kind,
    name,
    version: "1.0.0",
    compatibility: { cortexfs: "*" },
    executable: { path: `bin/${name}`, sha256: sha256(executable) },
    controls: { ...own, ...said.controls },
    ...said.manifest,
  };
  const program = join(folder, "bin", name);
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(program, executable, { mode: 0o755 });
  const path = join(folder, `${name}.manifest.json`);
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
  return path;
}
