// The versions of MCP that are spoken here.

import { CodedError, quoted } from "../abi/mod.ts";
import { isMembers } from "./message.ts";

/** Newest first; the first is what is announced. */
export const protocolVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

/** Why this answer to `initialize` ends the conversation; names both versions and what is offered. */
export function versionRefusal(
  label: string,
  result: Readonly<Record<string, unknown>>,
): CodedError | undefined {
  const { protocolVersion, capabilities, serverInfo } = result;
  if ((protocolVersions as readonly unknown[]).includes(protocolVersion)) return undefined;
  const spoken = typeof protocolVersion === "string" ? quoted(protocolVersion) : "no version";
  const info = isMembers(serverInfo) ? serverInfo : {};
  const named = [info["name"], info["version"]].filter((one) => typeof one === "string").join(" ");
  const offered = isMembers(capabilities) ? Object.keys(capabilities).filter(isWord).sort() : [];
  const offers = offered.length > 0 ? `offers ${offered.join(", ")}` : "offers nothing";
  const about = named === "" ? offers : `${quoted(named)}, ${offers}`;
  const announced = `${protocolVersions[0]} was announced`;
  return new CodedError(
    "EINVAL",
    `MCP server ${quoted(label)} speaks ${spoken} (${about}), and ${announced}`,
    { hint: `spoken here are ${protocolVersions.join(", ")}` },
  );
}

const isWord = (text: string): boolean => /^[a-zA-Z]{1,32}$/.test(text);
