import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { contextBytesMax, envelopeLineBytesMax } from "../envelope/mod.ts";
import type { HistoryItem } from "../session/mod.ts";
import { buildInvocation, type InvocationInput } from "./invocation.ts";

const first: InvocationInput = {
  run: "run-1",
  step: 0,
  input: "original user input",
  history: [],
  toolContext: "",
  observation: null,
};

const turn = (run: string, text: string): HistoryItem[] => [
  { kind: "user", run, text },
  { kind: "assistant", run, text: `re: ${text}` },
];

const messagesOf = (input: Partial<InvocationInput>) =>
  JSON.parse(buildInvocation({ ...first, ...input }).invocation.history_messages);

describe("buildInvocation()", () => {
  test("writes exactly the golden line", async () => {
    const golden = Bun.file("abi/sdk-envelope/v1/accept/invocation-first.json");
    expect(buildInvocation(first).line).toBe(await golden.text());
  });

  test("writes an observation as the golden has it", async () => {
    const observation = {
      tool_call_id: "call-1",
      name: "example.echo",
      status: "ok",
      content: "authoritative normalized result",
      truncated: false,
    } as const;
    const golden = Bun.file("abi/sdk-envelope/v1/accept/invocation.json");
    expect(buildInvocation({ ...first, step: 1, observation }).line).toBe(await golden.text());
  });

  test("tells earlier turns oldest first, calls beside their results", () => {
    const history: HistoryItem[] = [
      { kind: "user", run: "a", text: "look" },
      { kind: "tool_call", run: "a", call: "call-4", name: "fs.read", args: { path: "x" } },
      {
        kind: "tool_result",
        run: "a",
        call: "call-4",
        name: "fs.read",
        status: "ok",
        content: "found",
      },
      { kind: "assistant", run: "a", text: "seen" },
      ...turn("b", "more"),
    ];
    expect(messagesOf({ history })).toEqual([
      { role: "user", content: "look" },
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id: "call-4", name: "fs.read", args: { path: "x" } }],
      },
      { role: "tool", tool_call_id: "call-4", name: "fs.read", status: "ok", content: "found" },
      { role: "assistant", content: "seen" },
      { role: "user", content: "more" },
      { role: "assistant", content: "re: more" },
    ]);
  });

  test("a turn without an answer says so", () => {
    const history: HistoryItem[] = [{ kind: "user", run: "a", text: "hello?" }];
    expect(messagesOf({ history })).toEqual([
      { role: "user", content: "hello?" },
      { role: "assistant", content: "(that run ended without an answer)" },
    ]);
  });

  test("drops the oldest turns whole at the bound of the text", () => {
    const history = Array.from({ length: 40 }, (_, n) => turn(`r${n}`, `${n} ${"x".repeat(2000)}`));
    const { history_messages } = buildInvocation({ ...first, history: history.flat() }).invocation;
    const told = JSON.parse(history_messages) as { content: string }[];
    expect(history_messages.length).toBeLessThanOrEqual(contextBytesMax);
    expect(history_messages.length).toBeGreaterThan(contextBytesMax - 5000);
    expect(told.at(-1)?.content).toStartWith("re: 39 ");
    expect(told.length % 2).toBe(0);
  });

  test("a turn that is too large hides what came before it, never a part of it", () => {
    const history = [...turn("a", "old"), ...turn("b", "x".repeat(contextBytesMax))];
    expect(messagesOf({ history })).toEqual([]);
    const later = [...history, ...turn("c", "new")];
    expect(messagesOf({ history: later }).map((one: { content: string }) => one.content)).toEqual([
      "new",
      "re: new",
    ]);
  });

  test("gives way to an input whose escapes need the line", () => {
    // A control character has six bytes in JSON.
    const input = "\u0001".repeat(174_000);
    const history = Array.from({ length: 30 }, (_, n) => turn(`r${n}`, "y".repeat(900))).flat();
    const { line, invocation } = buildInvocation({ ...first, input, history });
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(envelopeLineBytesMax);
    expect(invocation.input).toBe(input);
    expect(JSON.parse(invocation.history_messages).length).toBeLessThan(60);
    expect(() => buildInvocation({ ...first, input: "\u0001".repeat(200_000) })).toThrow(
      expect.objectContaining({ code: "EMSGSIZE" }),
    );
  });

  test("any history gives a line within every bound", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.string({ minLength: 3000 }));
    const turns = fc.array(text, { maxLength: 60 });
    fc.assert(
      fc.property(turns, (texts) => {
        const history = texts.flatMap((one, n) => turn(`r${n}`, one));
        const { line, invocation } = buildInvocation({ ...first, history });
        expect(Buffer.byteLength(line)).toBeLessThanOrEqual(envelopeLineBytesMax);
        expect(Buffer.byteLength(invocation.history_messages)).toBeLessThanOrEqual(contextBytesMax);
        expect(JSON.parse(invocation.history_messages).length % 2).toBe(0);
      }),
      { numRuns: 50 },
    );
  });
});
