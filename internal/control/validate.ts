// One question for whoever writes a control: is this text valid for that control of that class of
// object, and may a person write it at all.

import { quoted } from "../abi/mod.ts";
import { agentControls } from "./agent-controls.ts";
import { modelControls } from "./model-controls.ts";
import type { ControlRow } from "./row.ts";
import { refuse } from "./text.ts";
import { toolControls } from "./tool-controls.ts";
import type { Parsed } from "./types.ts";

export type ControlClass = "agent" | "tool" | "model";

const tables: Readonly<Record<ControlClass, Readonly<Record<string, ControlRow<unknown>>>>> = {
  agent: { ...agentControls },
  tool: { ...toolControls },
  model: { ...modelControls },
};

/** The row of a control; undefined when the class has no control of that name. */
export function controlRow(kind: ControlClass, name: string): ControlRow<unknown> | undefined {
  return Object.hasOwn(tables[kind], name) ? tables[kind][name] : undefined;
}

export function controlNames(kind: ControlClass): readonly string[] {
  return Object.keys(tables[kind]);
}

export function isRuntimeOwned(kind: ControlClass, name: string): boolean {
  return controlRow(kind, name)?.runtimeOwned === true;
}

/** Checks a text against the grammar of the control. Who may write it is another question. */
export function validateControl(kind: ControlClass, name: string, text: string): Parsed<unknown> {
  const row = controlRow(kind, name);
  if (row) return row.parse(text);
  return refuse(1, 1, `${kind} has no control ${quoted(name)}${instead(kind, name)}`);
}

function instead(kind: ControlClass, name: string): string {
  if (kind !== "agent") return "";
  if (name === "tool") return ", tools are granted by policy and listed in tools";
  if (name === "shared") return ", shared spaces are granted by policy";
  return "";
}
