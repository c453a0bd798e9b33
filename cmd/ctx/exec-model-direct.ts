// A model called by a person's own process: the tree it belongs to is found from the object's path,
// the key is read with the caller's own rights.

import { coded, fail, frameTextUnitsMax, parseModelRef } from "../../internal/abi/mod.ts";
import { onInterrupt } from "../../internal/cli/mod.ts";
import { type ModelMessage, resolveModel } from "../../internal/model/mod.ts";
import { openTree, resolvePlaces } from "../../internal/tree/mod.ts";
import type { Answer } from "./exec-capability.ts";
import type { PromptMessage } from "./exec-model.ts";

/** Cuts between characters; one that is two units long counts as one, so half the bound is safe. */
const framesOfText = new RegExp(`[^]{1,${frameTextUnitsMax / 2}}`, "gu");

/** The frames of one call, `done` last. What keeps it from being begun is thrown. */
export async function* modelFrames(
  path: string,
  name: string,
  messages: readonly PromptMessage[],
): AsyncGenerator<Answer> {
  const uid = process.getuid?.() ?? 0;
  const places = resolvePlaces({ source: treeOf(path, name), env: process.env, uid });
  const tree = openTree(places.source);
  const ref = parseModelRef(name);
  const choice =
    ref === undefined ? ({ kind: "alias", name } as const) : ({ kind: "ref", ref } as const);
  const client = resolveModel({ tree, places, choice });
  const cancel = new AbortController();
  const release = onInterrupt(() => cancel.abort());
  const run = `ctx-${crypto.getRandomValues(new Uint8Array(16)).toHex()}`;
  let frames = 0;
  const common = () => ({ id: `frame-${++frames}`, run });
  let text = "";
  try {
    const stream = client.stream({
      messages: messages.map(modelMessage),
      tools: [],
      signal: cancel.signal,
    });
    for await (const event of stream) {
      if (event.type === "delta") {
        text += event.text;
        yield { type: "delta", ...common(), text: event.text };
      } else if (event.type === "reasoning") {
        yield { type: "reasoning_delta", ...common(), text: event.text };
      } else if (event.type === "usage") {
        const { inputTokens: input_tokens, outputTokens: output_tokens } = event;
        yield { type: "usage", ...common(), input_tokens, output_tokens };
      }
    }
    for (const part of text.match(framesOfText) ?? []) {
      const content = [{ type: "text", text: part }];
      yield { type: "message", ...common(), role: "assistant", content };
    }
    yield { type: "done", ...common(), status: "ok" };
  } catch (error) {
    const { code, message } = coded(error);
    yield { type: "error", ...common(), code, message };
    const status = code === "ECANCELED" ? "cancelled" : "error";
    yield { type: "done", ...common(), status, code };
  } finally {
    release();
    tree.close();
  }
}

/** The tree at which `…/model/NAME` was executed; a view's source is found as for any command. */
function treeOf(path: string, name: string): string | undefined {
  const below = `/model/${name}`;
  if (!path.endsWith(below)) return fail("EINVAL", `${JSON.stringify(path)} is no model's path`);
  const root = path.slice(0, -below.length);
  return root === "/ctx" ? undefined : root;
}

function modelMessage({ role, content }: PromptMessage): ModelMessage {
  const text = typeof content === "string" ? content : content.map((part) => part.text).join("");
  return role === "assistant" ? { role, text, calls: [] } : { role, text };
}
