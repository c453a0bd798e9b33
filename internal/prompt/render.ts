// The one renderer of the system message, for runs and for `ctx agent prompt`. Variables are
// replaced in one pass over the template, so a value that contains `{{…}}` stays as it is. Pure:
// the time and every text are inputs. Nothing in a prompt grants authority.

import { fail } from "../abi/mod.ts";
import { contractText, withoutImitations } from "./contract.ts";

export interface PromptInputs {
  readonly agent: string;
  readonly time: Date;
  /** `system.md`; empty when the agent has none. */
  readonly system: string;
  /** `prompt.template.md`; undefined when the agent has none, then the default one is used. */
  readonly template: string | undefined;
  /** Names of the agent's `tools` control that it may call directly, without `tsh`. */
  readonly directTools: readonly string[];
  /** Merged AGENTS.md text; undefined where nobody collected it. */
  readonly rules?: string | undefined;
  /** Bounded skill metadata; undefined where nobody collected it. */
  readonly skills?: string | undefined;
  /** Metadata of tools that `tsh` has loaded; undefined where there is no session. */
  readonly toolInjection?: string | undefined;
  /** Earlier turns as text; undefined where they travel as messages, or where there is no session. */
  readonly history?: string | undefined;
}

/** What stands in a prompt where there is no value, so that a reader can tell it from an empty one. */
export const promptPlaceholders = {
  agent_instructions: "(this agent has no system.md)",
  rules: "(no AGENTS.md rules were collected)",
  skills: "(no skill metadata was collected)",
  tool_injection: "(no tool metadata is loaded)",
  history_messages: "(earlier messages are not part of this text)",
} as const;

export const defaultTemplate = `{{agent_instructions}}

You are the agent {{agent}}. The time is {{current_time}}.

Rules:
{{rules}}

Skills:
{{skills}}

Loaded tools:
{{tool_injection}}

{{runtime_contract}}
`;

/** Renders the system message. Throws EINVAL with the place of a wrong variable in the template. */
export function renderPrompt(inputs: PromptInputs): string {
  const file = `agent/${inputs.agent}.d/prompt.template.md`;
  const body = substitute(inputs.template ?? defaultTemplate, variables(inputs), file);
  const contract = contractText(inputs.directTools);
  const text = withoutImitations(body).trim();
  return text === "" ? `${contract}\n` : `${text}\n\n${contract}\n`;
}

function variables(inputs: PromptInputs): ReadonlyMap<string, string> {
  const unix = Math.floor(inputs.time.getTime() / 1000);
  return new Map([
    ["agent", inputs.agent],
    ["current_time_unix", String(unix)],
    ["current_time", new Date(unix * 1000).toISOString().replace(".000Z", "Z")],
    ["agent_instructions", given(inputs.system.trim() || undefined, "agent_instructions")],
    ["rules", given(inputs.rules, "rules")],
    ["skills", given(inputs.skills, "skills")],
    ["tool_injection", given(inputs.toolInjection, "tool_injection")],
    ["history_messages", given(inputs.history, "history_messages")],
    // The contract is always the end of the message; a template may name its place but not move it.
    ["runtime_contract", ""],
  ]);
}

function given(value: string | undefined, variable: keyof typeof promptPlaceholders): string {
  return value ?? promptPlaceholders[variable];
}

function substitute(template: string, values: ReadonlyMap<string, string>, file: string): string {
  const parts: string[] = [];
  let position = 0;
  for (;;) {
    const open = template.indexOf("{{", position);
    if (open < 0) return parts.join("") + template.slice(position);
    parts.push(template.slice(position, open));
    const close = template.indexOf("}}", open + 2);
    const line = template.slice(open, close < 0 ? undefined : close);
    if (close < 0 || line.includes("\n")) {
      const detail = { place: placeOf(template, open, file) };
      return fail("EINVAL", `a variable is opened with "{{" and not closed on its line`, detail);
    }
    const name = template.slice(open + 2, close).trim();
    const value = values.get(name);
    if (value === undefined) {
      return fail("EINVAL", `template variable ${JSON.stringify(name)} does not exist`, {
        place: placeOf(template, open, file),
        hint: `the variables are ${[...values.keys()].join(" ")}`,
      });
    }
    parts.push(value);
    position = close + 2;
  }
}

function placeOf(text: string, offset: number, file: string) {
  const before = text.slice(0, offset).split("\n");
  return { file, line: before.length, column: (before.at(-1) ?? "").length + 1 };
}
