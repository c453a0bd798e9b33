// How a control is written in a manifest: as the text of its file, or as the value that the text
// means, a list for lines and an object for JSON. One text comes out, ended by a newline.

import type { ManifestClass } from "./types.ts";

type ControlText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

type Form = "lines" | "json" | "pairs";

/** Controls that may be written as something else than their text. All else is text alone. */
const forms: Readonly<Record<ManifestClass, Readonly<Record<string, Form>>>> = {
  tool: { schema: "json", program: "json", cap: "lines", policy: "lines", mcp: "pairs" },
  agent: {
    groups: "lines",
    path: "lines",
    mount: "lines",
    model: "lines",
    policy: "lines",
    tools: "lines",
    env: "pairs",
  },
};

export function controlText(kind: ManifestClass, name: string, value: unknown): ControlText {
  if (typeof value === "string") return given(value === "" ? "" : ended(value));
  const form = Object.hasOwn(forms[kind], name) ? forms[kind][name] : undefined;
  if (form === "lines" && Array.isArray(value)) return listText(value);
  const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
  if (form === "json" && isMap) return given(`${JSON.stringify(value)}\n`);
  if (form === "pairs" && isMap) return pairsText(value);
  return { ok: false, reason: `it is neither a text${wanted(form)}` };
}

function wanted(form: Form | undefined): string {
  if (form === undefined) return " nor anything that can be one";
  return form === "lines" ? " nor a list of texts" : " nor an object";
}

/** YAML's plain texts have no newline at the end, and every control has one. */
function ended(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}

function given(text: string): ControlText {
  return { ok: true, text };
}

function listText(items: readonly unknown[]): ControlText {
  for (const [index, item] of items.entries()) {
    const reason = lineFault(item);
    if (reason !== undefined) return { ok: false, reason: `item ${index + 1} ${reason}` };
  }
  return given(items.map((item) => `${item}\n`).join(""));
}

function pairsText(value: object): ControlText {
  const pairs = Object.entries(value);
  for (const [key, item] of pairs) {
    const reason = key.includes("=") || key.includes("\n") ? "is no name" : lineFault(item);
    if (reason !== undefined) return { ok: false, reason: `${JSON.stringify(key)} ${reason}` };
  }
  return given(pairs.map(([key, item]) => `${key}=${item}\n`).join(""));
}

function lineFault(item: unknown): string | undefined {
  if (typeof item === "number" && Number.isSafeInteger(item)) return undefined;
  if (typeof item !== "string") return "is not a text";
  return item.includes("\n") ? "is more than one line" : undefined;
}
