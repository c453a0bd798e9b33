import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  type ControlClass,
  controlNames,
  formatMount,
  formatPerm,
  type MountLine,
  parseAgentControl,
  parseJsonObject,
  validateControl,
} from "./mod.ts";

const classes: readonly ControlClass[] = ["agent", "tool", "model"];
const controls = classes.flatMap((kind) => controlNames(kind).map((name) => [kind, name] as const));

// Text that gets past the first check now and then: fragments of real controls, glued at random.
const fragment = fc.constantFrom(
  ...["\n", "\n", "\n", "\t", " ", "=", ":", ",", "/", "0", "7", "a", "/a", "rwx", "coder_t"],
  ...[
    "allow ",
    "tool:",
    "execute",
    "ro",
    "-",
    "auto",
    "{",
    "}",
    '"',
    "[",
    "#",
    "\r",
    "\0",
    "\ud800",
  ],
);
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fragment, { maxLength: 24 }).map((parts) => parts.join("")),
);

describe("every control's grammar", () => {
  test("answers any text with a value or a place inside it, and never throws", () => {
    let refused = 0;
    let accepted = 0;
    fc.assert(
      fc.property(fc.constantFrom(...controls), anyText, ([kind, name], text) => {
        const parsed = validateControl(kind, name, text);
        if (parsed.ok) {
          accepted += 1;
          return;
        }
        refused += 1;
        const lines = text.split("\n");
        expect(parsed.line).toBeGreaterThanOrEqual(1);
        expect(parsed.line).toBeLessThanOrEqual(lines.length + 1);
        expect(parsed.column).toBeGreaterThanOrEqual(1);
        expect(parsed.column).toBeLessThanOrEqual((lines[parsed.line - 1] ?? "").length + 1);
        expect(parsed.reason).toMatch(/^[^\0-\x1f\x7f]{1,500}$/);
      }),
      { numRuns: 5000 },
    );
    expect(Math.min(refused, accepted)).toBeGreaterThan(100);
  });

  test("a single value survives neither padding, a second line nor a lost newline", () => {
    const good = [
      ["owner", "1000"],
      ["perm", "rwx"],
      ["label", "coder_t"],
      ["iso", "uid"],
      ["life", "temp"],
      ["root", "/"],
      ["cwd", "/workspace"],
      ["window", "auto"],
      ["abi", "sdk-envelope-v1"],
      ["approval", "ask"],
      ["parent", "agent:coder"],
      ["status", "ready"],
    ] as const;
    for (const [name, value] of good) {
      expect(parseAgentControl(name, `${value}\n`).ok).toBe(true);
      for (const wrong of ["", "\n", value, ` ${value}\n`, `${value} \n`, `${value}\n\n`]) {
        expect([name, wrong, parseAgentControl(name, wrong).ok]).toEqual([name, wrong, false]);
      }
    }
  });
});

describe("perm and mount", () => {
  test("print what they parse", () => {
    fc.assert(
      fc.property(fc.boolean(), fc.boolean(), fc.boolean(), (read, write, execute) => {
        const perm = { read, write, execute };
        expect(parseAgentControl("perm", `${formatPerm(perm)}\n`)).toEqual({
          ok: true,
          value: perm,
        });
      }),
    );
    const path = fc
      .array(fc.constantFrom("a", "b c", "ä", "x.y", "..z"), { maxLength: 4 })
      .map((parts) => `/${parts.join("/")}`);
    const mount: fc.Arbitrary<MountLine> = fc.record({
      source: path,
      target: path,
      access: fc.constantFrom("ro" as const, "rw" as const),
      recursive: fc.boolean(),
      nosuid: fc.boolean(),
      nodev: fc.boolean(),
      noexec: fc.boolean(),
      line: fc.constant(1),
    });
    fc.assert(
      fc.property(mount, (value) => {
        const parsed = parseAgentControl("mount", `${formatMount(value)}\n`);
        expect(parsed).toEqual({ ok: true, value: [value] });
      }),
    );
  });
});

describe("the JSON scanner", () => {
  const engineAccepts = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };

  test("agrees with the engine about every object it prints, and about every damaged one", () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }));
    let damaged = 0;
    fc.assert(
      fc.property(
        object,
        fc.nat(),
        fc.constantFrom("", ",", "}", '"', "\n", "x"),
        (value, at, put) => {
          const text = JSON.stringify(value, null, 1);
          const parsed = parseJsonObject(text);
          expect(parsed).toEqual({ ok: true, value: JSON.parse(text) });
          const cut = at % text.length;
          const other = `${text.slice(0, cut)}${put}${text.slice(cut + 1)}`;
          const again = parseJsonObject(other);
          if (again.ok) expect(engineAccepts(other)).toBe(true);
          else if (!/repeated|not an object/.test(again.reason)) {
            damaged += 1;
            expect([other, engineAccepts(other)]).toEqual([other, false]);
          }
        },
      ),
      { numRuns: 1000 },
    );
    expect(damaged).toBeGreaterThan(100);
  });

  test("refuses depth instead of overflowing", () => {
    const deep = '{"a":'.repeat(20_000);
    expect(parseJsonObject(deep)).toMatchObject({ ok: false, code: "EINVAL" });
  });
});
