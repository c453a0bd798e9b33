// agent.update: an agent replaces one of its own prompt texts. This process only asks; the host knows
// whose run it is and checks everything again.

import { coded, fail } from "../../internal/abi/mod.ts";
import { isTerminal, note, print } from "../../internal/cli/mod.ts";
import { askHost, throwRefusal } from "./exec-capability.ts";
import { answerNative } from "./exec-file-tool.ts";
import { parseJson, readInput, toolInputBytesMax, wordsToInput } from "./exec-input.ts";

const fields = ["control", "content"];

export async function runUpdate(words: readonly string[]): Promise<number> {
  if (process.env["CTX_TOOL_MODE"] === "native") {
    return updateNative(() => readInput(toolInputBytesMax));
  }
  if (words.length === 0 && isTerminal(0)) {
    note("Usage: agent.update system.md|prompt.template.md [TEXT]");
    note('       agent.update \'{"control":…,"content":…}\'');
    return 2;
  }
  print(await update(terminalInput(words)));
  return 0;
}

/** One native call; whatever keeps it from being done is an answer too. */
export async function updateNative(input: () => string): Promise<number> {
  try {
    return answerNative({ status: "ok", content: `${await update(parseJson(input()))}\n` });
  } catch (error) {
    const { code, message, hint } = coded(error);
    const tail = hint === undefined ? "" : `\nhint: ${hint}`;
    return answerNative({ status: "error", code, content: `${message} [${code}]${tail}` });
  }
}

/** A JSON object or the two words; a text that is not given is standard input. */
function terminalInput(words: readonly string[]): unknown {
  const [control] = words;
  if (control === undefined) return parseJson(readInput(toolInputBytesMax));
  if (words.length === 1 && !control.startsWith("{")) {
    return { control, content: readInput(toolInputBytesMax) };
  }
  return wordsToInput("agent.update", words, fields);
}

async function update(value: unknown): Promise<string> {
  const { control, content } = checked(value);
  const request = {
    op: "agent.update",
    agent: own("CTX_AGENT"),
    session: own("CTX_SESSION"),
    run: own("CTX_RUN_ID"),
    control,
    content,
  };
  for await (const answer of askHost(request)) {
    throwRefusal(answer);
    return `${control} was replaced; it takes effect at the next run`;
  }
  return fail("EHOSTDOWN", "the host did not answer");
}

function checked(value: unknown): { readonly control: string; readonly content: string } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return fail("EINVAL", "agent.update takes one JSON object");
  }
  const { control, content, ...rest } = value as Record<string, unknown>;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) fail("EINVAL", `agent.update does not know the field "${unknown}"`);
  if (typeof control === "string" && typeof content === "string") return { control, content };
  return fail("EINVAL", `agent.update needs the texts "control" and "content"`);
}

/** The names of the run, as the launch gave them. They grant nothing: the host compares them. */
function own(name: string): string {
  return (
    process.env[name] ||
    fail("EHOSTDOWN", `cannot update the agent: ${name} is not set`, {
      hint: "agent.update works in the run of an agent only",
    })
  );
}
