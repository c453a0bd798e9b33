import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodeOpLine } from "./mod.ts";

const decode = (value: unknown) => decodeOpLine(JSON.stringify(value));
const send = { op: "send", id: "msg-1", input: "hello" };

function refusal(value: unknown): [string, string] {
  const decoded = decode(value);
  if (decoded.ok) throw new Error(`accepted: ${JSON.stringify(value)}`);
  return [decoded.code, decoded.message];
}

describe("decodeOpLine() accepts", () => {
  test("a send with its defaults", () => {
    expect(decode(send)).toEqual({
      ok: true,
      request: {
        op: "send",
        id: "msg-1",
        session: "default",
        scope: { kind: "private" },
        input: "hello",
        cwd: undefined,
        workspace: undefined,
      },
    });
  });

  test("a send with everything", () => {
    const full = { ...send, session: "s", scope: "shared", shared: "team", cwd: "/workspace/a" };
    expect(decode({ ...full, workspace: "/home/u/p" })).toEqual({
      ok: true,
      request: {
        op: "send",
        id: "msg-1",
        session: "s",
        scope: { kind: "shared", space: "team" },
        input: "hello",
        cwd: "/workspace/a",
        workspace: "/home/u/p",
      },
    });
  });

  test("both answers to an approval request", () => {
    const about = { op: "approve", run: "ctx-1", id: "call-3" };
    const deny = { ...about, decision: "deny", reason: "too much", digest: "ab12" };
    const requests = [decode({ ...about, decision: "allow_once" }), decode(deny)];
    expect(requests.map((decoded) => decoded.ok && decoded.request) as unknown[]).toEqual([
      { ...about, decision: "allow_once", reason: undefined, digest: undefined },
      deny,
    ]);
  });

  test("resume, status, cancel and ping", () => {
    const scope = { kind: "private" } as const;
    const requests = [
      decode({ op: "resume" }),
      decode({ op: "resume", session: "s", scope: "temp", after: "ev-7" }),
      decode({ op: "resume", after: 7 }),
      decode({ op: "status", session: "s" }),
      decode({ op: "cancel", id: "ctx-1" }),
      decode({ op: "ping" }),
    ].map((decoded) => decoded.ok && decoded.request);
    expect(requests).toEqual([
      { op: "resume", session: "default", scope, after: undefined },
      { op: "resume", session: "s", scope: { kind: "temp" }, after: "ev-7" },
      { op: "resume", session: "default", scope, after: "7" },
      { op: "status", session: "s", scope },
      { op: "cancel", id: "ctx-1" },
      { op: "ping" },
    ]);
  });

  test("unknown fields, repeated fields and nulls where a field is optional", () => {
    expect(decode({ ...send, token: "x", cwd: null, shared: null })).toEqual(decode(send));
    expect(decodeOpLine('{"op":"ping","op":"cancel","id":"a"}')).toEqual({
      ok: true,
      request: { op: "cancel", id: "a" },
    });
  });

  test("an input of exactly 512 KiB and an id of exactly 256 bytes", () => {
    expect(decode({ ...send, input: "x".repeat(512 * 1024) }).ok).toBe(true);
    expect(decode({ ...send, id: "é".repeat(128) }).ok).toBe(true);
  });
});

describe("decodeOpLine() refuses", () => {
  test("what is no JSON object", () => {
    for (const line of ["", "{", "GET / HTTP/1.1\r", "\0", "\ufeff{}", '{"op":"ping"} x']) {
      const decoded = decodeOpLine(line);
      expect(decoded).toMatchObject({ ok: false, code: "EINVAL" });
    }
    for (const value of [null, 1, "ping", [], [{ op: "ping" }]]) {
      expect(refusal(value)).toEqual(["EINVAL", "request is not a JSON object"]);
    }
  });

  test("an op that is missing, no string, unknown or inherited", () => {
    expect(refusal({})).toEqual(["EINVAL", 'field "op" is missing']);
    expect(refusal({ op: 1 })).toEqual(["EINVAL", 'field "op" is not a string']);
    expect(refusal({ op: "Send" })).toEqual(["EINVAL", 'op "Send" is not known']);
    expect(refusal({ op: "toString" })).toEqual(["EINVAL", 'op "toString" is not known']);
    expect(refusal({ op: "x\u001b[2J" })[1]).toBe('op "x\\u001b[2J" is not known');
  });

  test("ops of later versions by their own message", () => {
    for (const op of ["read"]) {
      expect(refusal({ op, id: "a" })).toEqual([
        "EINVAL",
        `op "${op}" is not served by this version`,
      ]);
    }
  });

  test.each([
    [{}, "EINVAL", 'field "run" is missing'],
    [{ run: "r" }, "EINVAL", 'field "id" is missing'],
    [{ run: "r", id: "c" }, "EINVAL", 'field "decision" is missing'],
    [
      { run: "r", id: "c", decision: "allow" },
      "EINVAL",
      'decision "allow" is not one of allow_once, deny',
    ],
    [{ run: "r", id: "c", decision: true }, "EINVAL", 'field "decision" is not a string'],
    [
      { run: "r", id: "c", decision: "deny", reason: 1 },
      "EINVAL",
      'field "reason" is not a string',
    ],
    [
      { run: "r", id: "c", decision: "deny", reason: "x".repeat(4097) },
      "EMSGSIZE",
      "reason has 4097 bytes, at most 4096 are taken",
    ],
    [
      { run: "r", id: "c", decision: "deny", digest: [] },
      "EINVAL",
      'field "digest" is not a string',
    ],
  ])("an answer to an approval request with %j", (fields, code, message) => {
    expect(refusal({ op: "approve", ...fields })).toEqual([code, message]);
  });

  test("frames of interaction v1 and v2", () => {
    for (const abi of ["cortexfs.interaction/v1", "cortexfs.interaction/v2"]) {
      const expected = `abi "${abi}" is not served on this socket`;
      expect(refusal({ abi, payload: {} })).toEqual(["unsupported_version", expected]);
    }
  });

  test.each([
    [{ ...send, id: undefined }, "EINVAL", 'field "id" is missing'],
    [{ ...send, id: 7 }, "EINVAL", 'field "id" is not a string'],
    [
      { ...send, id: "" },
      "EINVAL",
      'field "id" "" is not an identifier: it has 0 bytes, 1 to 256 are allowed',
    ],
    [
      { ...send, id: `${"é".repeat(128)}x` },
      "EINVAL",
      /is not an identifier: it has 257 bytes, 1 to 256 are allowed$/,
    ],
    [{ op: "cancel", id: "a".repeat(257) }, "EINVAL", /it has 257 bytes/],
    [{ ...send, id: "a\0b" }, "EINVAL", 'field "id" holds a NUL character'],
    [{ ...send, id: "\ud800" }, "EINVAL", 'field "id" is not valid Unicode'],
    [{ ...send, input: undefined }, "EINVAL", 'field "input" is missing'],
    [{ ...send, input: ["a"] }, "EINVAL", 'field "input" is not a string'],
    [{ ...send, input: "\udfff" }, "EINVAL", 'field "input" is not valid Unicode'],
    [
      { ...send, input: "x".repeat(512 * 1024 + 1) },
      "EMSGSIZE",
      "input has 524289 bytes, at most 524288 are taken",
    ],
    [{ ...send, scope: "public" }, "EINVAL", 'scope "public" is not one of private, shared, temp'],
    [{ ...send, scope: "shared" }, "EINVAL", 'scope "shared" needs the field "shared"'],
    [
      { ...send, shared: "a" },
      "EINVAL",
      'field "shared" needs scope "shared", the scope is "private"',
    ],
    [
      { ...send, scope: "shared", shared: "../a" },
      "EINVAL",
      'shared space name "../a" is not valid',
    ],
    [{ ...send, session: "index" }, "EINVAL", 'session name "index" is reserved'],
    [{ ...send, session: "" }, "EINVAL", 'session name "" is not valid'],
    [{ ...send, session: "a/b" }, "EINVAL", 'session name "a/b" is not valid'],
    [{ ...send, cwd: "src" }, "EINVAL", 'cwd "src" is not absolute'],
    [{ ...send, cwd: "/a/../.." }, "EINVAL", 'cwd "/a/../.." is not canonical'],
    [{ ...send, workspace: "/a//b" }, "EINVAL", 'workspace "/a//b" is not canonical'],
    [{ ...send, workspace: "/a/." }, "EINVAL", 'workspace "/a/." is not canonical'],
    [{ ...send, workspace: "/a/" }, "EINVAL", 'workspace "/a/" is not canonical'],
    [{ ...send, workspace: "~" }, "EINVAL", 'workspace "~" is not absolute'],
    [{ ...send, workspace: "/a\nb" }, "EINVAL", 'workspace "/a\\nb" holds a control character'],
    [{ ...send, cwd: "/a\0" }, "EINVAL", 'cwd "/a\\u0000" holds a control character'],
    [{ ...send, cwd: `/${"é".repeat(2048)}` }, "EINVAL", "cwd is longer than 4095 bytes"],
    [{ op: "resume", after: -1 }, "EINVAL", 'field "after" is neither an id nor a sequence number'],
    [{ op: "resume", after: "" }, "EINVAL", /^field "after" "" is not an identifier/],
    [{ op: "cancel" }, "EINVAL", 'field "id" is missing'],
  ] as const)("%j", (value, code, message) => {
    const [actual, text] = refusal(value);
    expect(actual).toBe(code);
    if (typeof message === "string") expect(text).toBe(message);
    else expect(text).toMatch(message);
  });

  test("and gives the id back when it was usable, so that the answer can name it", () => {
    expect(decode({ ...send, cwd: "x" })).toMatchObject({ ok: false, id: "msg-1" });
    expect(decode({ op: "later", id: "a" })).toMatchObject({ ok: false, id: "a" });
    expect(decode({ op: "later", id: "" })).toMatchObject({ ok: false, id: undefined });
    expect(decodeOpLine("{")).toMatchObject({ ok: false, id: undefined });
  });
});

describe("decodeOpLine() by property", () => {
  test("never throws and never lets a bad identifier, session or path through", () => {
    const value = fc.oneof(fc.string({ unit: "binary" }), fc.jsonValue(), fc.constant("/w"));
    const record = fc.record(
      {
        op: fc.constantFrom("send", "resume", "status", "cancel", "ping", "tsh", "x"),
        id: value,
        session: value,
        scope: fc.oneof(fc.constantFrom("private", "shared", "temp"), value),
        shared: value,
        input: value,
        cwd: value,
        workspace: value,
        after: value,
      },
      { requiredKeys: ["op"] },
    );
    let accepted = 0;
    fc.assert(
      fc.property(record, (request) => {
        const decoded = decode(request);
        if (!decoded.ok) {
          expect(["EINVAL", "EMSGSIZE"]).toContain(decoded.code);
          expect(decoded.message.length).toBeLessThan(1000);
          return;
        }
        accepted += 1;
        const fields: Record<string, unknown> = { ...decoded.request };
        if ("id" in fields) expect(String(fields["id"])).toMatch(/^[^\0]{1,256}$/su);
        if ("session" in fields) expect(String(fields["session"])).toMatch(/^[\w.+-]{1,64}$/);
        for (const path of [fields["cwd"], fields["workspace"]]) {
          if (path !== undefined) expect(String(path)).toMatch(/^\/[^\0-\x1f\x7f]*$/);
        }
      }),
      { numRuns: 2000 },
    );
    expect(accepted).toBeGreaterThan(50);
  });

  test("any text at all is answered with a value", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (line) => {
        expect(decodeOpLine(line).ok).toBe(false);
      }),
    );
  });
});

test("an input that fits its own bound but no frame once escaped is EMSGSIZE", () => {
  const input = "\u0001".repeat(174_000);
  const line = JSON.stringify({ op: "send", id: "i", session: "s", input });
  expect(line.length).toBeLessThan(1024 * 1024);
  expect(decodeOpLine(line)).toMatchObject({ ok: false, code: "EMSGSIZE" });
});
