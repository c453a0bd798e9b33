// The judge of the op wire and the decoder that the server uses must say the same of every request
// that is served, whatever is done to it.

import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import fc from "fast-check";
import { inputBytesMax, opLineBytesMax } from "../abi/mod.ts";
import { decodeOpLine, encodeFrame, type OpFrame, type OpRequest } from "../interaction/mod.ts";
import { canonicalOp, judgeOp } from "./mod.ts";
import { opFrames } from "./op-shapes.ts";

const folder = resolve(import.meta.dir, "../../abi/op/v1");
const served = [
  ...["send", "tsh", "resume", "status", "cancel", "approve", "ping"],
  ...["start", "stop", "ps"],
];

function goldens(of: string): string[] {
  const names = readdirSync(join(folder, of)).sort();
  return names.map((name) => readFileSync(join(folder, of, name), "utf8").slice(0, -1));
}

const opOf = (line: string): unknown => JSON.parse(line)?.op;
const requests = [...goldens("accept"), ...goldens("accept-also")].filter((line) =>
  served.includes(opOf(line) as string),
);

/** Undefined when the two agree. */
function disagreement(line: string): string | undefined {
  const judged = judgeOp(line);
  const decoded = decodeOpLine(line);
  if (judged.ok !== decoded.ok) return `${line.slice(0, 300)}: judged ${judged.ok}`;
  if (judged.ok || decoded.ok || judged.code === decoded.code) return undefined;
  return `${line.slice(0, 300)}: judged ${judged.code}, decoded ${decoded.code}`;
}

const odd = fc.constantFrom<unknown>(
  ...[null, true, 0, -1, 1.5, 2 ** 53, "", "a", "..", "index", "a.d", "/", "/a/", "/a/../b"],
  ...["shared", "private", "temp", "deny", "a\0", "\ud800", "é".repeat(128), "é".repeat(129)],
  ...[
    [],
    {},
    ["send"],
    ["fs.read", 1],
    { op: "ping" },
    "x".repeat(5000),
    "/".concat("x".repeat(4095)),
    "evt-3",
  ],
);

const member = fc.constantFrom(
  ...[
    "op",
    "id",
    "session",
    "scope",
    "shared",
    "input",
    "cwd",
    "workspace",
    "after",
    "run",
    "args",
  ],
  ...["decision", "reason", "digest", "abi", "type", "__proto__", "toString", "extra"],
);

describe("the judge and the decoder of op requests agree", () => {
  test("on every golden", () => {
    expect(requests.length).toBeGreaterThan(20);
    for (const line of requests) expect(disagreement(line)).toBeUndefined();
    for (const name of readdirSync(join(folder, "reject"))) {
      const { line } = JSON.parse(readFileSync(join(folder, "reject", name), "utf8"));
      if (
        typeof line !== "string" ||
        !/^(?:send|tsh|resume|status_r|cancel|approve|ping|start_r|stop|ps)/.test(name)
      ) {
        continue;
      }
      expect([name, disagreement(line)]).toEqual([name, undefined]);
    }
  });

  test("on requests with members replaced, added and removed", () => {
    const change = fc.record({
      name: member,
      value: fc.oneof(odd, fc.jsonValue()),
      drop: fc.boolean(),
    });
    let refused = 0;
    fc.assert(
      fc.property(fc.constantFrom(...requests), change, (line, { name, value, drop }) => {
        const fields = JSON.parse(line) as Record<string, unknown>;
        if (drop) delete fields[name];
        else Object.defineProperty(fields, name, { value, enumerable: true, configurable: true });
        const mutated = JSON.stringify(fields);
        const op = opOf(mutated);
        // What is no request of the served ones is not the decoder's to accept.
        if (typeof op === "string" && !served.includes(op)) return;
        if (op == null && typeof fields["type"] === "string") return;
        if (!judgeOp(mutated).ok) refused += 1;
        expect(disagreement(mutated)).toBeUndefined();
      }),
      { numRuns: 4000 },
    );
    expect(refused).toBeGreaterThan(200);
  });

  test("on lines with characters inserted, replaced and removed", () => {
    const edit = fc.record({
      at: fc.nat(200),
      take: fc.nat(3),
      text: fc.oneof(
        fc.string({ maxLength: 3 }),
        fc.constantFrom('"', "{", "}", "\\", "null", ","),
      ),
    });
    fc.assert(
      fc.property(fc.constantFrom(...requests), edit, (line, { at, take, text }) => {
        const mutated = line.slice(0, at) + text + line.slice(at + take);
        // No framing yields these.
        if (mutated.includes("\n") || !mutated.isWellFormed()) return;
        const judged = judgeOp(mutated);
        if (judged.ok && !served.includes(judged.kind.replace(/_request$/, ""))) return;
        expect(disagreement(mutated)).toBeUndefined();
      }),
      { numRuns: 4000 },
    );
  });

  test("on the bounds of an input and of a line", () => {
    const line = (input: string) => JSON.stringify({ op: "send", id: "a", input });
    const whole = line("x".repeat(inputBytesMax));
    expect(judgeOp(whole)).toEqual({ ok: true, kind: "send" });
    expect(judgeOp(line("x".repeat(inputBytesMax + 1)))).toMatchObject({ code: "EMSGSIZE" });
    const pad = (bytes: number) => {
      const empty = JSON.stringify({ op: "ping", pad: "" });
      return JSON.stringify({ op: "ping", pad: "x".repeat(bytes - empty.length) });
    };
    expect(judgeOp(pad(opLineBytesMax - 1))).toEqual({ ok: true, kind: "ping" });
    expect(judgeOp(pad(opLineBytesMax))).toMatchObject({ code: "EMSGSIZE", path: "", by: "line" });
    for (const one of [whole, line("\u0001".repeat(172_031)), line("\u0001".repeat(172_032))]) {
      expect(disagreement(one)).toBeUndefined();
    }
  });

  test("a line nested as deep as it can be is judged and not followed", () => {
    const deep = `{"op":"ping","x":${"[".repeat(200_000)}${"]".repeat(200_000)}}`;
    expect(judgeOp(deep)).toEqual({ ok: true, kind: "ping" });
    expect(disagreement(deep)).toBeUndefined();
  });
});

describe("canonicalOp()", () => {
  test("encodes a frame as the server does", () => {
    const frames = goldens("accept").filter((line) => "type" in JSON.parse(line));
    expect(frames.length).toBeGreaterThan(20);
    for (const line of frames) {
      expect(encodeFrame(JSON.parse(line) as OpFrame)).toBe(canonicalOp(line));
    }
    const types = new Set(frames.map((line) => JSON.parse(line).type));
    expect([...types].sort()).toEqual(Object.keys(opFrames).sort());
  });

  test("keeps what a request asks", () => {
    const neutral = (line: string): OpRequest | undefined => {
      const decoded = decodeOpLine(line);
      return decoded.ok ? decoded.request : undefined;
    };
    for (const line of requests) {
      expect(neutral(line)).toBeDefined();
      expect(neutral(canonicalOp(line).slice(0, -1))).toEqual(neutral(line) as OpRequest);
    }
  });

  test("has no form for what is refused", () => {
    expect(() => canonicalOp('{"op":"fly"}')).toThrow('op "fly" is not known');
  });
});
