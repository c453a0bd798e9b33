import { expect, test } from "bun:test";
import type { ModelEvent, ModelMessage } from "../../internal/model/mod.ts";
import { startModelServer } from "./server.ts";
import { editOf, storyStep } from "./story.ts";

const options = {
  offered: ["tsh", "fs_list", "fs_read", "fs_replace", "shell_exec"],
  denied: "fs.write",
};
const listing =
  '{"path":"/workspace/src","type":"folder"}\n{"path":"/workspace/notes.md","type":"file"}';
const notes = "# Notes\n- [ ] TODO: name the port\n- done already\n";

type Call = ModelEvent & { type: "call" };

function play(
  messages: ModelMessage[],
  results: readonly string[],
): { calls: Call[]; last: string } {
  const calls: Call[] = [];
  for (const result of [...results, undefined]) {
    const events = storyStep(messages, options);
    const call = events.find((event): event is Call => event.type === "call");
    const text = events.map((event) => (event.type === "delta" ? event.text : "")).join("");
    if (!call || result === undefined) {
      messages.push({ role: "assistant", text, calls: [] });
      return { calls, last: text };
    }
    calls.push(call);
    messages.push({ role: "assistant", text, calls: [call] });
    messages.push({ role: "tool", call: call.id, name: call.name, status: "ok", content: result });
  }
  throw new Error("unreachable");
}

test("the story lists, reads, edits, runs and answers; then recalls; then is refused", () => {
  const messages: ModelMessage[] = [{ role: "user", text: "please settle the open point" }];
  const first = play(messages, [
    listing,
    notes,
    "replaced",
    "check 1 of 4\n2:- [x] DONE: name the port\n[exit 0]\n",
  ]);
  expect(first.calls.map((call) => call.name)).toEqual([
    "fs_list",
    "fs_read",
    "fs_replace",
    "shell_exec",
  ]);
  expect(first.calls[2]?.args).toEqual({
    path: "/workspace/notes.md",
    old: "- [ ] TODO: name the port",
    new: "- [x] DONE: name the port",
  });
  expect(first.last).toContain('The check printed: "2:- [x] DONE: name the port"');
  messages.push({ role: "user", text: "what did you change?" });
  const second = play(messages, [notes.replace("[ ] TODO", "[x] DONE")]);
  expect(second.calls.map((call) => call.args)).toEqual([{ path: "/workspace/notes.md" }]);
  expect(second.last).toContain('It now reads: "- [x] DONE: name the port"');
  messages.push({ role: "user", text: "now write a file" });
  const third = play(messages, ["tool fs.write is refused [EACCES]"]);
  expect(third.calls[0]?.name).toBe("tsh");
  expect(third.last).toBe("The call was not run: tool fs.write is refused [EACCES]");
});

test("an edit names a line that occurs once", () => {
  expect(editOf("same\nsame\nother\n")).toEqual({ old: "other", new: "other (checked)" });
});

test("the server answers whole, lists its model and refuses other routes", async () => {
  const server = startModelServer({ mode: "script", usage: { input: 5, output: 6 } });
  try {
    const post = (body: unknown) =>
      fetch(`${server.baseUrl}/chat/completions`, { method: "POST", body: JSON.stringify(body) });
    const messages = [
      { role: "user", content: [{ type: "text", text: '@say hi\n@call tsh {"args":["x"]}' }] },
    ];
    const whole = await (await post({ model: "m", messages })).json();
    expect(whole).toMatchObject({
      choices: [
        {
          message: {
            content: "hi",
            tool_calls: [{ function: { name: "tsh", arguments: '{"args":["x"]}' } }],
          },
          finish_reason: "tool_calls",
        },
      ],
      usage: { prompt_tokens: 5, completion_tokens: 6 },
    });
    expect(await (await fetch(`${server.baseUrl}/models`)).json()).toMatchObject({
      object: "list",
    });
    expect((await fetch(`${server.baseUrl}/other`)).status).toBe(404);
    const failed = await post({
      model: "m",
      messages: [{ role: "user", content: "@error busy x" }],
    });
    expect(failed.status).toBe(429);
    expect(server.count()).toBe(2);
  } finally {
    await server.stop();
  }
});

test("run by itself it says where it listens and ends on SIGTERM", async () => {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/main.ts`, "--mode", "story"], {
    stdout: "pipe",
  });
  const { value } = await child.stdout.getReader().read();
  const { base_url: baseUrl } = JSON.parse(new TextDecoder().decode(value)) as { base_url: string };
  expect((await fetch(`${baseUrl}/models`)).status).toBe(200);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
});
