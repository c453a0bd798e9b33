// Starts a sandbox whose payload would leave a file in the folder given, and never opens its gate:
// `hold-launch.ts FOLDER MARK`. Prints `starting` before it spawns and `standing` when it could.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { childDescriptors, startSandbox } from "../../internal/bwrap/mod.ts";
import { bwrapArguments, seccompProgram } from "../../internal/sandbox/mod.ts";
import { plainSpec } from "./plain-spec.ts";

const [folder = "/nonexistent", mark = ""] = process.argv.slice(2);
for (const name of ["etc", "ctx", "work"]) mkdirSync(join(folder, name), { recursive: true });
console.log("starting");
await startSandbox({
  arguments: bwrapArguments(plainSpec(folder), childDescriptors),
  seccomp: seccompProgram(process.arch === "arm64" ? "arm64" : "x64", { network: false }),
  program: ["/bin/sh", "-c", `touch /workspace/ran; : ${mark}`],
  combined: true,
  signal: new AbortController().signal,
  prepare() {
    console.log("standing");
    return new Promise(() => setInterval(() => {}, 1000));
  },
});
