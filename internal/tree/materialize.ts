// A provider's model as an object of the tree: `model/<provider>/<model>` with its controls.

import {
  CodedError,
  coded,
  fail,
  isObjectName,
  type ModelRef,
  objectName,
  quoted,
} from "../abi/mod.ts";
import { u32Max } from "../control/mod.ts";
import { factsBeneath, makeFolderBeneath, syncBeneath, writeBeneath } from "./beneath.ts";
import { loadModel } from "./model.ts";
import { objectFile } from "./object-file.ts";
import type { Tree } from "./open.ts";
import type { Places } from "./place-names.ts";
import { loadProviders, type Provider } from "./providers.ts";

/**
 * Makes the model object, or brings its driver and limit up to date; other controls of an existing
 * one are kept. `model` is what the provider calls it; the object's name is that with characters
 * outside of names replaced by `-`. `limit` is in tokens and wins over the provider file's.
 * Throws ENOENT for an unknown provider, EEXIST when the name stands for another model already.
 */
export function materializeModel(
  tree: Tree,
  places: Pick<Places, "config" | "uid">,
  provider: string,
  model: string,
  limit?: number,
): ModelRef {
  const found = loadProviders(places).find(({ name }) => name === objectName("provider", provider));
  if (!found) {
    return fail("ENOENT", `provider ${quoted(provider)} does not exist`, {
      hint: `describe it in "${places.config}/providers.d/${provider}.json"`,
    });
  }
  const tokens = limit ?? found.modelLimits.get(model);
  if (tokens !== undefined && !(Number.isInteger(tokens) && tokens >= 1 && tokens <= u32Max)) {
    fail("EINVAL", `limit ${tokens} is not between 1 and ${u32Max} tokens`);
  }
  const ref = { provider, model: modelObjectName(model) };
  const object = `model/${ref.provider}/${ref.model}`;
  try {
    writeModel(tree, object, ref, found, model, tokens);
  } catch (error) {
    if (error instanceof CodedError) throw error;
    const { code, message } = coded(error);
    fail(code, `cannot write model ${quoted(object)}: ${message}`, { cause: error });
  }
  return ref;
}

/** `meta/llama-3:8b` is `meta-llama-3-8b`. EINVAL when no name is left. */
export function modelObjectName(model: string): string {
  const name = model.replace(/[^a-zA-Z0-9._+-]/g, "-");
  if (isObjectName(name)) return name;
  return fail("EINVAL", `model ${quoted(model)} does not give a valid object name`);
}

function writeModel(
  tree: Tree,
  object: string,
  ref: ModelRef,
  provider: Provider,
  id: string,
  limit: number | undefined,
): void {
  const exists = factsBeneath(tree.folder, object) !== undefined;
  if (exists) {
    const there = loadModel(tree, ref);
    if (there.id !== id) {
      fail("EEXIST", `${quoted(object)} stands for ${quoted(there.id)} already`);
    }
  }
  const root = tree.folder;
  for (const folder of [`model/${ref.provider}`, `${object}.d`, `${object}.d/session`]) {
    if (!factsBeneath(root, folder)) makeFolderBeneath(root, folder, 0o755, undefined);
  }
  const put = (control: string, text: string) =>
    writeBeneath(root, `${object}.d/${control}`, text, 0o644, undefined);
  const once = (control: string, text: string) => {
    if (!factsBeneath(root, `${object}.d/${control}`)) put(control, text);
  };
  put("id", `${id}\n`);
  put("driver", `${provider.formats[0] ?? "openai.chat"}\n`);
  put("limit", limit === undefined ? "unknown\n" : `${limit}\n`);
  once("cap", "chat\nstream\ntool_call_syntax\n");
  once("effort", "auto\n");
  once("default", `${JSON.stringify(provider.default, null, 2)}\n`);
  once("fallback", "");
  once("status", "ready\n");
  once("log", "");
  const metadata = { class: "model", name: `${ref.provider}/${ref.model}`, id };
  writeBeneath(root, object, objectFile(tree.source, metadata), 0o755, undefined);
  syncBeneath(root, ["model", `model/${ref.provider}`, `${object}.d`]);
}
