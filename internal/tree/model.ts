// A model object as one value, and what an alias stands for.

import {
  CodedError,
  coded,
  fail,
  type ModelRef,
  objectName,
  parseModelRef,
  quoted,
} from "../abi/mod.ts";
import {
  type ModelControlName,
  type ModelControlValues,
  modelControls,
  type Policy,
} from "../control/mod.ts";
import { policyOf } from "../policy/mod.ts";
import { factsBeneath, linkTargetBeneath } from "./beneath.ts";
import { parsedValue, readOptional } from "./control-file.ts";
import { isSafePath, type Tree } from "./open.ts";

export interface ModelObject {
  readonly ref: ModelRef;
  /** What the provider calls it; the object's name has a narrower alphabet. */
  readonly id: string;
  /** `debug.echo`, `debug.script`, or a provider's format such as `openai.chat`. */
  readonly driver: string;
  readonly cap: readonly string[];
  /** Context limit in tokens; undefined when it is not known. */
  readonly limit: number | undefined;
  readonly effort: ModelControlValues["effort"];
  readonly fallback: readonly ModelRef[];
  /** Parameters of each call, as the adapter understands them. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Undefined when the model has none: then the agent's policy decides alone. */
  readonly policy: Policy | undefined;
  readonly policyFile: string;
}

/** Throws ENOENT when there is no such model, EINVAL with the place for a malformed control. */
export function loadModel(tree: Tree, ref: ModelRef): ModelObject {
  const name = modelName(ref);
  const object = `model/${name}`;
  const facts = factsBeneath(tree.folder, object);
  if (facts === undefined) {
    return fail("ENOENT", `model ${quoted(name)} does not exist`, {
      hint: "name one of model/PROVIDER/MODEL",
    });
  }
  if (!facts.isFile()) return fail("EACCES", `model ${quoted(name)} is not a regular file`);
  const read = <N extends ModelControlName>(control: N): ModelControlValues[N] | undefined => {
    const file = `${object}.d/${control}`;
    const row = modelControls[control];
    const text = readOptional(tree, file);
    if (text !== undefined) return parsedValue(row.parse(text), file) as ModelControlValues[N];
    if (!row.required) return row.absent as ModelControlValues[N] | undefined;
    return fail("EINVAL", `model ${quoted(name)} has no control ${quoted(control)}`, {
      hint: `write ${file}`,
    });
  };
  const lines = read("policy");
  const limit = read("limit");
  return {
    ref,
    id: read("id") ?? ref.model,
    driver: read("driver") ?? "",
    cap: read("cap") ?? [],
    limit: typeof limit === "number" ? limit : undefined,
    effort: read("effort") ?? "auto",
    fallback: read("fallback") ?? [],
    parameters: read("default") ?? {},
    policy: lines === undefined ? undefined : policyOf(lines),
    policyFile: `${object}.d/policy`,
  };
}

export function modelName(ref: ModelRef): string {
  return `${ref.provider}/${ref.model}`;
}

/** Symlinks followed for one alias: `helper` to `main` to the model. Past it EINVAL. */
const aliasHopsMax = 2;

/**
 * What an alias such as `main` stands for. A target is relative and stays below `model/`; anything
 * else is EACCES. ENOENT when there is no such alias; the model itself is not looked at.
 */
export function resolveAlias(tree: Tree, name: string): ModelRef {
  objectName("model alias", name);
  let at = name;
  for (let hop = 0; hop < aliasHopsMax; hop += 1) {
    const target = aliasTarget(tree, at, name);
    const ref = parseModelRef(target);
    if (ref) return ref;
    at = target;
  }
  return fail(
    "EINVAL",
    `model alias ${quoted(name)} leads through more than ${aliasHopsMax} links`,
  );
}

function aliasTarget(tree: Tree, at: string, alias: string): string {
  const link = `model/${at}`;
  const facts = factsBeneath(tree.folder, link);
  if (facts === undefined) {
    const through = at === alias ? "" : `: ${quoted(link)} is missing`;
    return fail("ENOENT", `model alias ${quoted(alias)} does not exist${through}`, {
      hint: `make it with ln -s PROVIDER/MODEL ${link}`,
    });
  }
  if (!facts.isSymbolicLink()) return fail("EINVAL", `${quoted(link)} is not a model alias`);
  let target: string;
  try {
    target = linkTargetBeneath(tree.folder, link);
  } catch (error) {
    const { code, message } = coded(error);
    throw new CodedError(code, `cannot read ${quoted(link)}: ${message}`, { cause: error });
  }
  if (isSafePath(target) && target.split("/").length <= 2) return target;
  return fail("EACCES", `model alias ${quoted(alias)} leads to ${quoted(target)}`, {
    hint: "an alias names PROVIDER/MODEL or another alias, relative to model/",
  });
}
