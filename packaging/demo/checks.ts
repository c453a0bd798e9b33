// What the demonstration claims to have shown, looked up in the files afterwards. A claim that does
// not hold is one sentence; the demonstration fails with all of them.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Answering } from "./model.ts";
import type { Seen } from "./show.ts";
import type { Stage } from "./stage.ts";

export interface Shown {
  readonly first: Seen;
  readonly second: Seen;
  readonly denied: Seen;
  readonly explained: Seen;
  readonly diff: Seen;
  readonly session: string;
}

/** The shell command of the story prints a line each half second; seen sooner, it was not live. */
const liveGapMs = 700;

/** Exit status of a refusal. */
const refusedExit = 13;

interface Event {
  readonly seq: number;
  readonly type: string;
  readonly status?: string;
  readonly object?: string;
  readonly code?: string;
}

export function check(stage: Stage, answering: Answering, shown: Shown): string[] {
  const wrong: string[] = [];
  const claim = (holds: boolean, otherwise: string) => {
    if (!holds) wrong.push(otherwise);
  };
  for (const [name, seen] of Object.entries({ first: shown.first, second: shown.second })) {
    claim(seen.exit === 0, `the ${name} message ended with status ${seen.exit}`);
    claim(seen.out.trim() !== "", `the ${name} message had no answer`);
  }
  const notes = (folder: string) => readFileSync(join(folder, "notes.md"), "utf8");
  claim(notes(stage.before) !== notes(stage.workspace), "notes.md was not edited");
  claim(shown.diff.exit === 1, `diff ended with status ${shown.diff.exit}`);
  claim(!existsSync(join(stage.workspace, "forbidden.txt")), "the denied file was written");
  claim(
    shown.explained.exit === refusedExit,
    `policy explain ended with status ${shown.explained.exit}`,
  );
  const events = readEvents(shown.session);
  claim(
    events.every((event, index) => event.seq === index + 1),
    "the event log has a hole",
  );
  const calls = events.filter((event) => event.type === "tool.call");
  const results = events.filter((event) => event.type === "tool.result");
  claim(calls.length === results.length, "a tool call has no result, or more than one");
  claim(
    results.some((event) => event.status === "error" && event.code === "EACCES"),
    "no call was refused",
  );
  if (answering.story) wrong.push(...checkStory(answering, shown, calls));
  return wrong;
}

/** What only the fixed story can promise; a real model goes its own way to the edit. */
function checkStory(answering: Answering, shown: Shown, calls: readonly Event[]): string[] {
  const wrong: string[] = [];
  for (const tool of ["fs.list", "fs.read", "fs.replace", "shell.exec"]) {
    if (!calls.some((event) => event.object?.endsWith(tool))) wrong.push(`${tool} was not called`);
  }
  if (!shown.first.out.includes("The check printed:")) wrong.push("the answer lacks the check");
  if (!shown.first.out.includes("DONE: name the port")) wrong.push("the edit is not in the answer");
  if (!shown.second.out.includes("Earlier I edited")) wrong.push("nothing was remembered");
  const at = (text: string) => shown.first.pieces.find((piece) => piece.text.includes(text))?.ms;
  const gap = (at("check 4 of 4") ?? 0) - (at("check 1 of 4") ?? 0);
  if (gap < liveGapMs) wrong.push("the command's output did not appear while it ran");
  const asked = answering.story?.count() ?? 0;
  if (asked < 9) wrong.push(`the model server was asked ${asked} times`);
  return wrong;
}

function readEvents(session: string): Event[] {
  return readFileSync(join(session, "events.jsonl"), "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Event);
}
