// What is wrong with a received frame, whatever the talk expects of it. The wire is told by the frame
// itself, since a server may answer what it cannot read in a form older than the talk's.

import { protocolNamed } from "./registry.ts";
import type { TalkAbi } from "./talk.ts";

/** Undefined for a right frame; else where it is wrong and why. */
export function frameFault(abi: TalkAbi, line: string): string | undefined {
  const judged = protocolNamed(wireOf(abi, line)).judge(line);
  return judged.ok ? undefined : `${judged.path || "the line"}: ${judged.message}`;
}

function wireOf(abi: TalkAbi, line: string): TalkAbi {
  if (abi === "control") return abi;
  const said = (JSON.parse(line) as { abi?: unknown }).abi;
  if (said === "cortexfs.interaction/v1") return "v1";
  return said === "cortexfs.interaction/v2" ? "v2" : "op";
}
