// The fence as a descriptor that a launch can execute. An anonymous file, because the folders that
// hold our own are mounted noexec on many hosts.

import { landlockVersion, memoryFile } from "../os/mod.ts";
import { fenceProgram, landlockVersionMin } from "../sandbox/mod.ts";

/** Whether this host can keep sandboxes from handing descriptors to each other. */
export function canFence(): boolean {
  return landlockVersion() >= landlockVersionMin;
}

/** `descriptor` is its number in the child. Undefined where the kernel has no such thing. */
export function fenceFile(descriptor: number): number | undefined {
  if (!canFence()) return undefined;
  const architecture = process.arch === "arm64" ? "arm64" : "x64";
  return memoryFile("bwrap-fence", fenceProgram(architecture, descriptor), { executable: true });
}
