// A throw-away tree with its places, made by the real bootstrap around programs that do nothing.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bootstrap, type Places } from "../../internal/tree/mod.ts";

export interface TestTree {
  readonly base: string;
  readonly places: Places;
  alias(agent: string): string;
  remove(): void;
}

/** `owner` other than the process's uid is for root alone. */
export function makeTestTree(owner = process.getuid?.() ?? 0): TestTree {
  const base = mkdtempSync("/tmp/cortexfs-daemon-");
  // Peers of other uids pass through to sockets; what guards those is tested, not this folder.
  chmodSync(base, 0o711);
  const binaries = join(base, "programs");
  mkdirSync(binaries);
  for (const name of ["ctx", "tsh", "ctxterm", "ctxmcp", "ctxd"]) {
    writeFileSync(join(binaries, name), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  }
  const source = join(base, "tree");
  bootstrap({ source, owner: { uid: owner, gid: owner }, groups: [], binaries });
  const uid = process.getuid?.() ?? 0;
  const places: Places = {
    mode: uid === 0 ? "system" : "user",
    uid,
    source,
    runtime: join(base, "run"),
    config: join(base, "config"),
    secrets: join(base, "secrets"),
  };
  return {
    base,
    places,
    alias: (agent) => join(source, "agent", `${agent}.sock`),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}
