// The controls of one agent as they are on disk, each judged by itself, so that one that is malformed
// hides none of the others.

import { coded, fail } from "../../internal/abi/mod.ts";
import { agentControls } from "../../internal/control/mod.ts";
import { readControl, type Tree } from "../../internal/tree/mod.ts";

export interface ControlFinding {
  readonly control: string;
  readonly state: "set" | "absent" | "malformed" | "missing";
  /** Its text when it is set. */
  readonly text?: string;
  /** `file:line:column: reason` when it is malformed or missing. */
  readonly fault?: string;
}

export function controlFindings(tree: Tree, agent: string): ControlFinding[] {
  return Object.entries(agentControls).map(([control, row]) => {
    const file = `agent/${agent}.d/${control}`;
    try {
      const text = readControl(tree, file);
      const parsed = row.parse(text);
      if (parsed.ok) return { control, state: "set", text };
      const { line, column } = parsed;
      return fail(parsed.code, parsed.reason, { place: { file, line, column } });
    } catch (error) {
      const { code, message, place } = coded(error);
      if (code === "ENOENT") {
        if (!row.required) return { control, state: "absent" };
        return { control, state: "missing", fault: `${file} is missing [ENOENT]` };
      }
      const where = place === undefined ? "" : `${place.file}:${place.line}:${place.column}: `;
      const reason = place === undefined ? message : reasonOf(message);
      return { control, state: "malformed", fault: `${where}${reason} [${code}]` };
    }
  });
}

/** Without the place that the message says a second time. */
function reasonOf(message: string): string {
  return message.replace(/^"[^"]*" line \d+, column \d+: /, "");
}
