// A server's result as a tool's output. Text stays text and structured content stays JSON; what is
// neither is handed to the caller to keep, and the output names it. `_meta` is for programs and goes.

import { quoted, toolOutputBytesMax } from "../abi/mod.ts";
import { resultBlocksMax } from "./bounds.ts";
import { canonicalJson } from "./canonical.ts";

export interface CallResult {
  /** Content blocks as the server sent them. */
  readonly content: readonly unknown[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
  /** How the structured content breaks the tool's output schema. */
  readonly mismatch?: string;
}

export interface ResultKeeper {
  /**
   * Keeps the bytes of block `index` and answers with what a reader can find them by, or with nothing
   * when it keeps none. The MIME type is the server's word.
   */
  keep(bytes: Uint8Array, mimeType: string, index: number): string | undefined;
}

export interface ResultText {
  readonly status: "ok" | "error";
  readonly content: string;
}

/** Blocks in their order, a line break between them. Past the bounds the rest is named, not handed on. */
export function resultContent(result: CallResult, keeper: ResultKeeper): ResultText {
  const blocks = result.content.slice(0, resultBlocksMax);
  const parts = blocks.map((block, index) => blockText(block, index, keeper));
  const more = result.content.length - blocks.length;
  if (more > 0) parts.push(`[${more} more content blocks are left out]`);
  const structured = structuredText(result);
  if (structured !== undefined) parts.push(structured);
  if (result.mismatch !== undefined) {
    parts.push(`[the result does not fit the tool's output schema: ${result.mismatch}]`);
  }
  const content = cut(parts.join("\n"));
  return { status: result.isError ? "error" : "ok", content };
}

/** The structured content as JSON, unless the only text says the same value already. */
function structuredText({ content, structuredContent }: CallResult): string | undefined {
  if (structuredContent === undefined) return undefined;
  const [only, second] = content;
  if (second === undefined && isMembers(only) && only["type"] === "text") {
    if (saysSame(only["text"], structuredContent)) return undefined;
  }
  try {
    return JSON.stringify(structuredContent);
  } catch {
    return "[structured content nests too deep to be written]";
  }
}

function saysSame(text: unknown, value: unknown): boolean {
  if (typeof text !== "string") return false;
  try {
    return canonicalJson(JSON.parse(text)) === canonicalJson(value);
  } catch {
    return false;
  }
}

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function blockText(block: unknown, index: number, keeper: ResultKeeper): string {
  if (!isMembers(block)) return unknownText(block);
  switch (block["type"]) {
    case "text":
      return typeof block["text"] === "string" ? block["text"] : unknownText(block);
    case "image":
    case "audio":
      return keptText(block["type"], block["data"], block["mimeType"], index, keeper);
    case "resource_link":
      return linkText(block);
    case "resource":
      return resourceText(block["resource"], index, keeper) ?? unknownText(block);
    default:
      return unknownText(block);
  }
}

function linkText(link: Members): string {
  const uri = typeof link["uri"] === "string" ? link["uri"] : "without an address";
  const words = ["name", "title", "description", "mimeType"].flatMap((key) => {
    const value = link[key];
    return typeof value === "string" && value !== "" ? [value] : [];
  });
  return `[resource ${uri}]${words.length > 0 ? ` ${words.join(", ")}` : ""}`;
}

function resourceText(value: unknown, index: number, keeper: ResultKeeper): string | undefined {
  if (!isMembers(value)) return undefined;
  const uri = typeof value["uri"] === "string" ? value["uri"] : "";
  if (typeof value["text"] === "string") return `[resource ${uri}]\n${value["text"]}`;
  if (value["blob"] === undefined) return undefined;
  return keptText(`resource ${uri}`, value["blob"], value["mimeType"], index, keeper);
}

function keptText(
  what: string,
  data: unknown,
  mimeType: unknown,
  index: number,
  keeper: ResultKeeper,
): string {
  const type = typeof mimeType === "string" ? mimeType : "application/octet-stream";
  const shown = /^[\w!#$&^.+-]{1,64}\/[\w!#$&^.+-]{1,64}$/.test(type) ? type : quoted(type);
  let bytes: Uint8Array;
  try {
    bytes = Uint8Array.fromBase64(String(data));
  } catch {
    return `[${what}, ${shown}: its data is not valid base64]`;
  }
  const kept = keeper.keep(bytes, type, index);
  return `[${what}, ${shown}, ${bytes.length} bytes${kept === undefined ? "" : `: ${kept}`}]`;
}

/** Named and kept as the JSON that it is, so that nothing a server says is lost. */
function unknownText(block: unknown): string {
  const type = isMembers(block) ? block["type"] : undefined;
  const name = typeof type === "string" ? `of type ${quoted(type)}` : "without a type";
  try {
    const shown = isMembers(block) ? { ...block, _meta: undefined } : block;
    return `[content ${name}] ${JSON.stringify(shown)}`;
  } catch {
    return `[content ${name}]`;
  }
}

function cut(text: string): string {
  if (text.length * 3 <= toolOutputBytesMax) return text.toWellFormed();
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= toolOutputBytesMax) return text.toWellFormed();
  let end = toolOutputBytesMax;
  // Back to the start of a character.
  while (((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  const kept = new TextDecoder().decode(bytes.subarray(0, end));
  return `${kept}\n[${bytes.length - end} more bytes are left out]`;
}
