// The `window` control as a setting, and the one check that a window and a model may stand together.
// Whoever changes either asks here first and writes nothing when the answer is a reason.

import { type Code, fail } from "../abi/mod.ts";
import { type AgentControls, type Parsed, parseAgentControl } from "../control/mod.ts";

export type WindowSetting = AgentControls["window"];

/** A model that a run may use; `maximum` in tokens, undefined when nobody knows it. */
export interface WindowCandidate {
  readonly name: string;
  readonly maximum: number | undefined;
}

/** `auto` or a positive u32, one canonical line. */
export function parseWindowSetting(text: string): Parsed<WindowSetting> {
  return parseAgentControl("window", text);
}

/** The exact content of the control. `auto` is the reset. */
export function formatWindowSetting(setting: WindowSetting): string {
  return `${setting}\n`;
}

/** Tokens, or undefined when they are not known. */
export function effectiveWindow(
  setting: WindowSetting,
  maximum: number | undefined,
): number | undefined {
  return setting === "auto" ? maximum : setting;
}

/** Why the setting may not stand with the model; undefined when it may. */
export function windowFault(
  setting: WindowSetting,
  { name, maximum }: WindowCandidate,
): string | undefined {
  if (setting === "auto") return undefined;
  const subject = `window ${setting} cannot be used with model "${name}"`;
  if (maximum === undefined) return `${subject}: its maximum is not known`;
  return setting > maximum ? `${subject}: its maximum is ${maximum}` : undefined;
}

/** Before `window` or `model` is written. Throws EINVAL; then both files stay as they are. */
export function checkWindowPair(setting: WindowSetting, selected: WindowCandidate): void {
  const reason = windowFault(setting, selected);
  if (reason === undefined) return;
  const hint = `set window to auto, or to a number that the model's limit allows`;
  fail("EINVAL", reason, { hint });
}

export type Eligibility =
  | { readonly eligible: true; readonly window: number | undefined }
  | { readonly eligible: false; readonly code: Code; readonly message: string };

/**
 * Whether a run may go on with a candidate, and the window it then has. A refused one is an event
 * with this code and message; the setting itself is never clamped or reset.
 */
export function candidateWindow(setting: WindowSetting, candidate: WindowCandidate): Eligibility {
  const message = windowFault(setting, candidate);
  if (message !== undefined) return { eligible: false, code: "EINVAL", message };
  return { eligible: true, window: effectiveWindow(setting, candidate.maximum) };
}
