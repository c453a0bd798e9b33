import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readProtocol } from "../../testdata/abi/folder.ts";
import { decodeV2Line, encodeV2Frame, judgeV2, type V2Frame, v2LineBytesMax } from "./mod.ts";
import { v2Kinds } from "./v2-kinds.ts";

const folder = readProtocol("interaction/v2");
const lines = [...folder.accept.values()].map((text) => text.slice(0, -1));
const golden = (name: string) => (folder.accept.get(name) ?? "").slice(0, -1);

function decoded(line: string): V2Frame {
  const result = decodeV2Line(line);
  if (!result.ok) throw new Error(`${result.path}: ${result.message}`);
  return result.frame;
}

const ids = { connection_id: "c", attachment_id: "a" };
const input: V2Frame = {
  side: "master",
  kind: "input",
  ...ids,
  request_id: "r",
  data: { input: "hello" },
};

describe("a decoded frame", () => {
  test("is flat, without nulls, and has the ids of its family", () => {
    expect(decoded(golden("hello"))).toStrictEqual({
      side: "master",
      kind: "hello",
      connection_id: "master-connection-1",
      capabilities: ["input", "observe", "status", "command_result", "invoke", "replay"],
      data: {
        versions: ["cortexfs.interaction/v2"],
        fallback_versions: ["cortexfs.interaction/v1"],
        master_id: "discord.primary",
      },
    });
    expect(decoded(golden("ack"))).toStrictEqual({
      side: "master",
      kind: "ack",
      connection_id: "master-connection-1",
      attachment_id: "tab-7",
      session_seq: 57,
      data: {},
    });
    expect(decoded(golden("error-no-connection"))).toStrictEqual({
      side: "slave",
      kind: "error",
      data: { code: "EINVAL", message: "frame is not valid JSON", retryable: false },
    });
  });

  test("has a number exactly when it is durable, or an ack", () => {
    for (const line of lines) {
      const frame = decoded(line);
      const wire = JSON.parse(line) as { event: { durable: boolean } };
      const numbered = "session_seq" in frame;
      expect([line, numbered]).toEqual([line, wire.event.durable || frame.kind === "ack"]);
    }
  });

  test("keeps nothing of what was not known, wherever it stood", () => {
    const also = folder.acceptAlso.get("hello-unknown-fields") ?? "";
    expect(decoded(also.slice(0, -1))).toStrictEqual(decoded(golden("hello")));
    const proto = folder.acceptAlso.get("hello-proto-field") ?? "";
    const frame = decoded(proto.slice(0, -1));
    expect(frame).toStrictEqual(decoded(golden("hello")));
    expect(Object.getPrototypeOf(frame.data)).toBe(Object.prototype);
  });

  test("narrows by kind", () => {
    const frame = decoded(golden("attach"));
    const cursor = frame.kind === "attach" ? frame.data.after_session_seq : undefined;
    expect(cursor).toBe(41);
  });

  test("of every row of kinds.json is one of every row of the code", () => {
    const said = folder.kinds.toSorted();
    expect(v2Kinds.map(({ kind }): string => kind).toSorted()).toEqual(said);
    expect(said).toHaveLength(19);
  });
});

describe("a refusal", () => {
  const attributed = (line: string) => {
    const result = decodeV2Line(line);
    return result.ok ? "accepted" : result.attributed;
  };

  test("gives back the ids that it can be put down to", () => {
    const frame = JSON.parse(golden("input")) as { event: { data: object } };
    frame.event.data = {};
    expect(attributed(JSON.stringify(frame))).toEqual({
      connection_id: "master-connection-1",
      attachment_id: "tab-7",
      request_id: "req-1",
    });
    expect(attributed("{")).toEqual({});
    expect(attributed("[]")).toEqual({});
    expect(attributed('{"correlation":{"connection_id":"a","attachment_id":"\\u0000"}}')).toEqual({
      connection_id: "a",
    });
    expect(attributed('{"correlation":{"attachment_id":"a"}}')).toEqual({});
  });

  test("names the field, the value and no more of it than a person reads", () => {
    const line = golden("hello").replace('"hello"', JSON.stringify("x\u001b[2J".repeat(500)));
    const result = decodeV2Line(line);
    expect(result.ok ? "" : result.message).toMatch(/^field "event\.kind" "x\\u001b/);
    expect(result.ok ? 0 : result.message.length).toBeLessThan(1000);
    const v1 = decodeV2Line(golden("hello").replace("interaction/v2", "interaction/v1"));
    expect(v1).toMatchObject({
      code: "unsupported_version",
      message: `field "abi" is "cortexfs.interaction/v1", spoken here is "cortexfs.interaction/v2"`,
    });
  });

  test("takes a line that holds a newline or half a character for no line", () => {
    const hello = golden("hello");
    expect(judgeV2(`${hello}\n`)).toMatchObject({ code: "EINVAL", by: "line" });
    expect(judgeV2(hello.replace("discord", "\ud800"))).toMatchObject({ by: "line" });
  });

  test("is a value for any text at all", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.json()), (line) => {
        expect(decodeV2Line(line).ok).toBe(false);
      }),
    );
  });
});

describe("encodeV2Frame()", () => {
  test("orders the fields whatever order they were given in", () => {
    const line = golden("attached-waiting");
    const frame = decoded(line);
    const turned = Object.fromEntries(Object.entries(frame).reverse()) as unknown as V2Frame;
    const data = Object.fromEntries(Object.entries(frame.data).reverse());
    expect(encodeV2Frame({ ...turned, data } as V2Frame)).toBe(`${line}\n`);
  });

  test("leaves out what is undefined", () => {
    const data = { input: "hello", cwd: undefined };
    expect(encodeV2Frame({ ...input, data })).toBe(encodeV2Frame(input));
  });

  test("refuses a frame that a peer would have to refuse", () => {
    const long = { ...input, request_id: "a".repeat(129) };
    expect(() => encodeV2Frame(long)).toThrow("is longer than 128 bytes");
    const half = { ...input, data: { input: "\ud800" } };
    expect(() => encodeV2Frame(half)).toThrow("is not valid Unicode");
    const delta = { ...input, side: "slave", kind: "event", run_id: "x", session_seq: 1 };
    const live = { ...delta, data: { type: "delta", text: "" } } as unknown as V2Frame;
    expect(() => encodeV2Frame(live)).toThrow('must be false in a "delta" event');
  });

  test("fills a frame to its last byte and refuses the next", () => {
    const room = v2LineBytesMax - encodeV2Frame({ ...input, data: { input: "" } }).length;
    const full = encodeV2Frame({ ...input, data: { input: "x".repeat(room) } });
    expect(full.length).toBe(v2LineBytesMax);
    expect(judgeV2(full.slice(0, -1))).toEqual({ ok: true, kind: "input" });
    expect(() => encodeV2Frame({ ...input, data: { input: "x".repeat(room + 1) } })).toThrow(
      "frame has more than 262144 bytes with its newline",
    );
  });
});

const id = fc
  .string({ unit: "binary", minLength: 1, maxLength: 42 })
  .filter((text) => text.isWellFormed() && !text.includes("\0") && Buffer.byteLength(text) <= 128);
const text = fc.string({ unit: "binary" }).filter((one) => one.isWellFormed());
const json = fc.jsonValue({ maxDepth: 3, stringUnit: "grapheme" });
const sequence = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const run = { connection_id: id, attachment_id: id, request_id: id, run_id: id };
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

/** Frames of the kinds that carry texts, numbers and other people's JSON. */
const frames = fc.oneof(
  fc.record({
    side: fc.constant("master"),
    kind: fc.constant("input"),
    connection_id: id,
    attachment_id: id,
    request_id: id,
    mode: optional(fc.constant("interact")),
    origin: optional(
      fc.record({ transport: id, thread: optional(id), metadata: fc.dictionary(text, json) }),
    ),
    data: fc.record({ input: text, event: optional(fc.dictionary(text, json)) }),
  }),
  fc.record({
    side: fc.constant("slave"),
    kind: fc.constant("event"),
    ...run,
    session_seq: sequence,
    data: fc.oneof(
      fc.record({ type: fc.constant("message"), role: fc.constant("user"), text }),
      fc.record({ type: fc.constant("tool_call"), call_id: id, name: id, args: json }),
    ),
  }),
  fc.record({
    side: fc.constant("slave"),
    kind: fc.constant("event"),
    ...run,
    data: fc.record({ type: fc.constant("delta"), text }),
  }),
  fc.record({
    side: fc.constant("master"),
    kind: fc.constant("command_result"),
    ...run,
    command_id: id,
    data: fc.record({ result: fc.record({ type: fc.constant("value"), payload: json }) }),
  }),
  fc.record({
    side: fc.constant("slave"),
    kind: fc.constant("gap"),
    connection_id: id,
    attachment_id: id,
    session: optional(fc.constant("default")),
    data: fc
      .tuple(sequence, sequence)
      .map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b), reason: "not_retained" })),
  }),
) as fc.Arbitrary<unknown> as fc.Arbitrary<V2Frame>;

/** A busy machine may take its time over this many cases. */
const slowMs = 120_000;
const runs = process.env["CTX_LONG"] === "1" ? 20_000 : 400;

describe("by property", () => {
  test(
    "decoding what was encoded gives the frame, and encoding that the same bytes",
    () => {
      let kinds = new Set<string>();
      fc.assert(
        fc.property(frames, (frame) => {
          const line = encodeV2Frame(frame);
          const again = decoded(line.slice(0, -1));
          expect(again).toEqual(JSON.parse(JSON.stringify(frame)));
          expect(encodeV2Frame(again)).toBe(line);
          kinds = kinds.add(frame.kind);
        }),
        { numRuns: runs },
      );
      expect([...kinds].sort()).toEqual(["command_result", "event", "gap", "input"]);
    },
    slowMs,
  );

  test(
    "a golden cut anywhere is refused, and one with a byte changed is judged",
    () => {
      const some = fc.constantFrom(...lines.filter((line) => line.length < 2048));
      fc.assert(
        fc.property(
          some,
          fc.nat(),
          fc.string({ unit: "binary", maxLength: 3 }),
          (line, at, put) => {
            const place = at % line.length;
            expect(judgeV2(line.slice(0, place)).ok).toBe(false);
            const judged = judgeV2(line.slice(0, place) + put + line.slice(place + 1));
            expect(judged.ok || /^(?:EINVAL|EMSGSIZE|unsupported_version)$/.test(judged.code)).toBe(
              true,
            );
          },
        ),
        { numRuns: 5 * runs },
      );
    },
    slowMs,
  );
});
