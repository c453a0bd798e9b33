// The fixed story of the demonstration: what a helpful model would do with a small workspace, as a
// pure function of the conversation. The first message leads to list, read, edit, run and answer;
// the second goes back to what was done; every later one tries a tool that policy denies.

import type { ModelEvent, ModelMessage } from "../../internal/model/mod.ts";

export interface StoryOptions {
  /** Names of the functions the request offers, as they are on the wire. */
  readonly offered: readonly string[];
  /** The tool that the third message tries. */
  readonly denied: string;
}

type Call = { readonly name: string; readonly args: Record<string, unknown> };
type Step = { readonly say: string; readonly call?: Call };

/** The events of the step that answers `messages`. */
export function storyStep(messages: readonly ModelMessage[], options: StoryOptions): ModelEvent[] {
  const users = messages.filter((message) => message.role === "user").length;
  const turn = messages.slice(messages.findLastIndex((message) => message.role === "user") + 1);
  const results = turn.filter((message) => message.role === "tool");
  const contents = results.map((message) => message.content);
  const step =
    users <= 1
      ? work(contents)
      : users === 2
        ? recall(contents, messages)
        : denied(contents, options.denied);
  const events: ModelEvent[] = [];
  if (step.say !== "") events.push({ type: "delta", text: step.say });
  if (step.call) events.push(callEvent(step.call, results.length, options.offered));
  return [...events, { type: "finish" }];
}

function work(results: readonly string[]): Step {
  const [listing, content, edited, output] = results;
  if (listing === undefined) {
    const call = { name: "fs.list", args: { path: "/workspace" } };
    return { say: "I look at the workspace first.", call };
  }
  const path = notesIn(listing);
  if (content === undefined) return { say: "", call: { name: "fs.read", args: { path } } };
  const edit = editOf(content);
  if (edited === undefined) {
    const call = { name: "fs.replace", args: { path, old: edit.old, new: edit.new } };
    return { say: `I found an open point in ${path} and settle it.`, call };
  }
  if (output === undefined) {
    const loop = `for i in 1 2 3 4; do echo "check $i of 4"; sleep 0.5; done`;
    const cmd = `${loop}; grep -n -F '${edit.new.replaceAll("'", "'\\''")}' ${path}`;
    return { say: "Now I check the result.", call: { name: "shell.exec", args: { cmd } } };
  }
  const what = `I changed "${edit.old}" to "${edit.new}" in ${path}.`;
  return { say: `${what} The check printed: "${lastLine(output)}".` };
}

function recall(results: readonly string[], messages: readonly ModelMessage[]): Step {
  const edit = callsOf(messages).findLast((call) => call.args["old"] !== undefined);
  const path = String(edit?.args["path"] ?? "/workspace/notes.md");
  const [content] = results;
  if (content === undefined) {
    return { say: "I read it again.", call: { name: "fs.read", args: { path } } };
  }
  const text = String(edit?.args["new"] ?? "");
  const line = content.split("\n").find((candidate) => candidate.includes(text)) ?? "";
  return {
    say: `Earlier I edited ${path}: "${edit?.args["old"]}" became "${text}". It now reads: "${line.trim()}".`,
  };
}

function denied(results: readonly string[], tool: string): Step {
  const [refusal] = results;
  if (refusal === undefined) {
    const args = { path: "/workspace/forbidden.txt", content: "this must not be written\n" };
    const input = tool === "shell.exec" ? { cmd: "id" } : args;
    return { say: `I try ${tool}.`, call: { name: tool, args: input } };
  }
  return { say: `The call was not run: ${refusal.split("\n")[0]}` };
}

/** The file of the listing that looks most like notes. */
function notesIn(listing: string): string {
  const paths = listing.split("\n").flatMap((line) => {
    try {
      const entry = JSON.parse(line) as { path?: unknown; name?: unknown };
      return [String(entry.path ?? entry.name)];
    } catch {
      return line.trim() === "" ? [] : [line.trim()];
    }
  });
  const found =
    paths.find((path) => /notes?[^/]*\.(md|txt)$/i.test(path)) ??
    paths.find((path) => /\.(md|txt)$/i.test(path)) ??
    "notes.md";
  return found.startsWith("/") ? found : `/workspace/${found}`;
}

/** One line of the file that occurs once: an open point becomes a settled one. */
export function editOf(content: string): { readonly old: string; readonly new: string } {
  const lines = content.split("\n").filter((line) => line.trim() !== "");
  const once = lines.filter((line) => content.split(line).length === 2);
  const open = once.find((line) => /TODO|\[ \]/.test(line));
  if (open !== undefined) {
    return { old: open, new: open.replace("TODO", "DONE").replace("[ ]", "[x]") };
  }
  const first = once[0] ?? "";
  return { old: first, new: `${first} (checked)` };
}

/** Every tool call of the conversation by the tool's own name, `tsh` seen through. */
function callsOf(messages: readonly ModelMessage[]): Call[] {
  return messages.flatMap((message) =>
    message.role === "assistant" ? message.calls.map((call) => seenThrough(call)) : [],
  );
}

function seenThrough(call: { readonly name: string; readonly args: unknown }): Call {
  const args = (call.args ?? {}) as Record<string, unknown>;
  const words = args["args"];
  if (call.name !== "tsh" || !Array.isArray(words)) return { name: call.name, args };
  try {
    return { name: String(words[0]), args: JSON.parse(String(words[1])) as Call["args"] };
  } catch {
    return { name: String(words[0]), args: {} };
  }
}

function callEvent(call: Call, position: number, offered: readonly string[]): ModelEvent {
  const wire = call.name.replaceAll(".", "_");
  const direct = offered.find((name) => name === call.name || name === wire);
  const name = direct ?? "tsh";
  const args = direct ? call.args : { args: [call.name, JSON.stringify(call.args)] };
  return { type: "call", id: `call_${position + 1}`, name, args, raw: JSON.stringify(args) };
}

/** The last line that the command itself printed: what a host adds stands in brackets. */
function lastLine(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !/^\[.*\]$/.test(line));
  return lines.at(-1) ?? "";
}
