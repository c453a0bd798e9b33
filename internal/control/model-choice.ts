// Controls that name models: an agent's `model` and a model's `fallback`.

import { isObjectName, type ModelRef, parseModelRef, quoted } from "../abi/mod.ts";
import { accept, parseList, refuse } from "./text.ts";
import type { ModelChoice, Parsed } from "./types.ts";

/** At least one line: provider/model or an alias; the first is selected, the rest are fallbacks. */
export function parseModelChoices(text: string): Parsed<readonly ModelChoice[]> {
  const list = parseList<ModelChoice>(
    text,
    (line) => {
      const ref = parseModelRef(line.text);
      if (ref) return accept({ kind: "ref", ref });
      if (isObjectName(line.text)) return accept({ kind: "alias", name: line.text });
      const reason = `model ${quoted(line.text)} is neither provider/model nor an alias`;
      return refuse(line.number, 1, reason);
    },
    "refused",
  );
  if (list.ok && list.value.length === 0) {
    return refuse(1, 1, "file is empty, it must name a model");
  }
  return list;
}

export function parseFallback(text: string): Parsed<readonly ModelRef[]> {
  return parseList(
    text,
    (line) => {
      const ref = parseModelRef(line.text);
      if (ref) return accept(ref);
      return refuse(line.number, 1, `fallback ${quoted(line.text)} is not provider/model`);
    },
    "refused",
  );
}
