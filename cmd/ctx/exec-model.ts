// A model, executed: a prompt in, frames out, one JSON object a line, `done` last. In an agent's
// sandbox the host makes the call, under the agent's policy, so no key and no network is needed there;
// anywhere else this process makes it, with what the caller may read. No session is touched.

import { type CodedError, codes, fail, opLineBytesMax } from "../../internal/abi/mod.ts";
import { isTerminal, note, printJson } from "../../internal/cli/mod.ts";
import { type Answer, askHost, codeOf, controlSocket, throwRefusal } from "./exec-capability.ts";
import { readInput } from "./exec-input.ts";

export interface PromptMessage {
  readonly role: "system" | "user" | "assistant";
  readonly content: string | readonly { readonly type: "text"; readonly text: string }[];
}

/** `path` is the object's, `name` is `provider/model` or an alias. */
export async function runModel(
  path: string,
  name: string,
  words: readonly string[],
): Promise<number> {
  if (words.length === 0 && isTerminal(0)) {
    note(`Usage: ${path} PROMPT…`);
    note(`       … | ${path}     text, or {"messages":[{"role":"user","content":…}]}`);
    return 2;
  }
  const messages = promptMessages(words);
  // In a run there is nobody else to ask, so a missing socket is told of.
  const inRun = controlSocket() !== undefined || Boolean(process.env["CTX_RUN_ID"]);
  if (inRun) return printFrames(hostFrames(name, messages));
  const { modelFrames } = await import("./exec-model-direct.ts");
  return printFrames(modelFrames(path, name, messages));
}

/** The words are one prompt; without words it is standard input, as text or as messages. */
function promptMessages(words: readonly string[]): readonly PromptMessage[] {
  const text = words.length > 0 ? words.join(" ") : readInput(opLineBytesMax);
  const given = words.length > 0 ? undefined : givenMessages(text);
  if (given !== undefined) return given;
  if (text.trim() === "") fail("EINVAL", "the prompt is empty");
  return [{ role: "user", content: text }];
}

/** Text that is no object with `messages` is a prompt, also when it is JSON. */
function givenMessages(text: string): readonly PromptMessage[] | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const messages = (value as { messages?: unknown }).messages;
  if (messages === undefined) return undefined;
  const good = Array.isArray(messages) && messages.length > 0 && messages.every(isMessage);
  if (good) return messages as PromptMessage[];
  return fail("EINVAL", `"messages" is not a list of messages with "role" and "content"`, {
    hint: "role is system, user or assistant; content is text or a list of text parts",
  });
}

function isMessage(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { role, content } = value as Record<string, unknown>;
  if (role !== "system" && role !== "user" && role !== "assistant") return false;
  if (typeof content === "string") return true;
  return Array.isArray(content) && content.length > 0 && content.every(isTextPart);
}

function isTextPart(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { type, text } = value as Record<string, unknown>;
  return type === "text" && typeof text === "string";
}

async function* hostFrames(model: string, messages: readonly PromptMessage[]) {
  for await (const answer of askHost({ op: "model.use", model, messages })) {
    throwRefusal(answer);
    const { request_id: _, ...frame } = answer;
    yield frame;
    if (frame["type"] === "done") return;
  }
}

/** Prints frames as they come; what the last one says is how this program ends. */
async function printFrames(frames: AsyncIterable<Answer>): Promise<number> {
  let error: Answer = {};
  for await (const frame of frames) {
    printJson(frame);
    if (frame["type"] === "error") error = frame;
    if (frame["type"] !== "done") continue;
    if (frame["status"] === "ok") return 0;
    const code: CodedError["code"] =
      frame["status"] === "cancelled" ? "ECANCELED" : codeOf(frame["code"] ?? error["code"]);
    if (typeof error["message"] === "string") fail(code, error["message"]);
    return codes[code].exit;
  }
  return fail("EIO", "the answer has no end");
}
