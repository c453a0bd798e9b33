import { expect, test } from "bun:test";
import fc from "fast-check";
import { buildMessages, type PromptHistory } from "./messages.ts";

test("turns become messages in order and the input is last", () => {
  const history: PromptHistory[] = [
    { kind: "user", text: "list it" },
    { kind: "tool_call", call: "call-4", name: "fs.list", args: { path: "/workspace" } },
    { kind: "tool_result", call: "call-4", name: "fs.list", status: "ok", content: "a\nb" },
    { kind: "assistant", text: "a and b" },
  ];
  expect(buildMessages("S", history, "and now?")).toEqual([
    { role: "system", text: "S" },
    { role: "user", text: "list it" },
    {
      role: "assistant",
      text: "",
      calls: [{ id: "call-4", name: "fs.list", args: { path: "/workspace" } }],
    },
    { role: "tool", call: "call-4", name: "fs.list", status: "ok", content: "a\nb" },
    { role: "assistant", text: "a and b", calls: [] },
    { role: "user", text: "and now?" },
  ]);
});

test("a run without an answer does not leave two user messages in a row", () => {
  const messages = buildMessages("S", [{ kind: "user", text: "one" }], "two");
  expect(messages.map((message) => message.role)).toEqual(["system", "user", "assistant", "user"]);
});

test("arguments that were never an object go back as an empty one", () => {
  const history: PromptHistory[] = [
    { kind: "user", text: "x" },
    { kind: "tool_call", call: "c", name: "fs.read", args: "{path:" },
  ];
  expect(buildMessages("S", history, "y")[2]).toMatchObject({ calls: [{ args: {} }] });
});

test("every call has exactly one result and roles never break a server's rules", () => {
  const item = fc.oneof(
    fc.record({ kind: fc.constantFrom("user" as const, "assistant" as const), text: fc.string() }),
    fc.record({
      kind: fc.constant("tool_call" as const),
      call: fc.constantFrom("a", "b", "c"),
      name: fc.constant("tsh"),
      args: fc.constant({}),
    }),
    fc.record({
      kind: fc.constant("tool_result" as const),
      call: fc.constantFrom("a", "b", "c"),
      name: fc.constant("tsh"),
      status: fc.constant("ok" as const),
      content: fc.string(),
    }),
  );
  fc.assert(
    fc.property(fc.array(item, { maxLength: 20 }), (history) => {
      const messages = buildMessages("S", history, "input");
      for (const [index, message] of messages.entries()) {
        const next = messages[index + 1];
        if (message.role === "assistant" && message.calls.length > 0) {
          expect(next).toMatchObject({ role: "tool", call: message.calls[0]?.id });
        }
        if (message.role === "user") expect(next?.role).not.toBe("user");
        if (message.role === "tool") expect(next?.role).not.toBe("user");
      }
      expect(messages.at(-1)).toEqual({ role: "user", text: "input" });
    }),
  );
});
