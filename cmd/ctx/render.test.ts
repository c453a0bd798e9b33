import { describe, expect, test } from "bun:test";
import { frameTextUnitsMax } from "../../internal/abi/mod.ts";
import type { OpFrame } from "../../internal/interaction/mod.ts";
import { Renderer, shortArguments } from "./render.ts";

function show(frames: readonly OpFrame[]) {
  const renderer = new Renderer({ colour: false });
  let out = "";
  let err = "";
  /** What a terminal that is both streams would show. */
  let both = "";
  for (const frame of frames) {
    const part = renderer.feed(frame);
    out += part.out;
    err += part.err;
    both += part.last === "out" ? part.err + part.out : part.out + part.err;
  }
  return { out, err, both, summary: renderer.summary };
}

const run = "ctx-1";
const message = (text: string): OpFrame => ({
  type: "message",
  id: "m",
  run,
  role: "assistant",
  content: [{ type: "text", text }],
});

describe("Renderer", () => {
  test("prints streamed text once, ends its line, and keeps tools on the other stream", () => {
    const { out, err, summary } = show([
      { type: "start", id: "s", run, model: "debug/script" },
      { type: "tool_call", id: "c", run, name: "shell.exec", args: { cmd: "make" } },
      { type: "tool_delta", id: "c", run, text: "one\ntw" },
      { type: "tool_delta", id: "c", run, text: "o" },
      {
        type: "tool_result",
        id: "c",
        run,
        name: "shell.exec",
        status: "ok",
        content: "one\ntwo",
        truncated: false,
      },
      { type: "delta", id: "d", run, text: "Hel" },
      { type: "delta", id: "d", run, text: "lo" },
      message("Hello"),
      { type: "usage", id: "u", run, input_tokens: 5, output_tokens: 2 },
      { type: "done", id: "e", run, status: "ok" },
    ]);
    expect(out).toBe("Hello\n");
    expect(err).toBe('> shell.exec cmd="make"\n  | one\n  | two\n  shell.exec ok (7 bytes)\n');
    expect(summary).toMatchObject({
      run,
      status: "ok",
      text: "Hello",
      toolCalls: 1,
      inputTokens: 5,
    });
  });

  test("says what came before a call once, and every line of a shared terminal is whole", () => {
    const { both } = show([
      { type: "delta", id: "d", run, text: "I look first." },
      { type: "tool_call", id: "c", run, name: "fs.list", args: { path: "." } },
      { type: "tool_delta", id: "c", run, text: "part" },
      { type: "delta", id: "d", run, text: "Done." },
      message("Done."),
    ]);
    expect(both).toBe('I look first.\n> fs.list path="."\n  | part\nDone.\n');
  });

  test("completes a stream whose first deltas were dropped, and prints a replayed message", () => {
    expect(show([message("whole")]).out).toBe("whole\n");
    expect(show([{ type: "delta", id: "d", run, text: "who" }, message("whole")]).out).toBe(
      "whole\n",
    );
    expect(show([{ type: "delta", id: "d", run, text: "ole" }, message("whole")]).out).toBe(
      "ole\nwhole\n",
    );
  });

  test("a message in pieces is one text, streamed, replayed or cut", () => {
    const first = "a".repeat(frameTextUnitsMax);
    const pieces = [message(first), message("end")];
    const delta = (text: string): OpFrame => ({ type: "delta", id: "d", run, text });
    const done: OpFrame = { type: "done", id: "e", run, status: "ok" };
    for (const deltas of [[], [delta(first), delta("end")], [delta("aaa")], [delta(`${first}e`)]]) {
      const { out, summary } = show([...deltas, ...pieces, done]);
      expect(out).toBe(`${first}end\n`);
      expect(summary.text).toBe(`${first}end`);
    }
    // One that only happens to be as long as a piece ends its line with its run.
    const two = show([
      message(first),
      done,
      { type: "start", id: "s", run, model: "debug/echo" },
      message("next"),
    ]);
    expect(two.out).toBe(`${first}\nnext\n`);
    expect(two.summary.text).toBe("next");
  });

  test("text of models and tools cannot steer the terminal", () => {
    const evil = "\x1b]0;owned\x07\x9b2J\u202e";
    const { out, err } = show([
      { type: "tool_call", id: "c", run, name: `x${evil}`, args: { [evil]: evil } },
      { type: "tool_delta", id: "c", run, text: evil },
      {
        type: "tool_result",
        id: "c",
        run,
        name: "x",
        status: "error",
        content: evil,
        truncated: false,
      },
      { type: "delta", id: "d", run, text: evil },
      message(evil),
    ]);
    expect(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/.test(out + err)).toBe(false);
    expect(out).toContain("\\x1b]0;owned\\x07");
  });

  test("arguments are one short line", () => {
    expect(shortArguments({ path: "a\nb", depth: 2 })).toBe('path="a\\nb" depth=2');
    expect(shortArguments({ text: "x".repeat(500) }).length).toBeLessThan(110);
    expect(shortArguments(undefined)).toBe("");
  });
});
