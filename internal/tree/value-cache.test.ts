// Values of many files: made once while all of them look the same, anew after whatever change.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { settle } from "../../testdata/tree/settle.ts";
import { type Sight, whileSame } from "./value-cache.ts";

let base: string;
let root: { folder: number };
let made: number;

beforeEach(async () => {
  base = mkdtempSync("/tmp/cortexfs-values-");
  root = { folder: openSync(base, "r") };
  made = 0;
  mkdirSync(at("agent/coder.d"), { recursive: true });
  writeFileSync(at("agent/coder"), "#!\n");
  writeFileSync(at("agent/coder.d/perm"), "rwx\n");
  await settle();
});
afterEach(() => {
  closeSync(root.folder);
  rmSync(base, { recursive: true, force: true });
});

const at = (name: string) => join(base, name);
const controls = "agent/coder.d";
const places = () => [
  { folder: "agent", names: ["coder", "coder.d"] },
  { folder: controls, names: ["perm", "tools"] },
];

/** What the sight has of a name, as a text. */
function seen(sight: Sight, name: string): string {
  const found = sight.of(controls, name);
  if (found === undefined) return "not told";
  if (found.facts === undefined) return "absent";
  return readFileSync(`/proc/self/fd/${found.folder}/${name}`, "utf8");
}

const both = (sight: Sight) => [seen(sight, "perm"), seen(sight, "tools")];

function value(during = () => {}): string[] {
  return whileSame(root, "coder", places, (sight) => {
    made++;
    during();
    return both(sight);
  });
}

const whole = ["rwx\n", "absent"];

describe("whileSame()", () => {
  test("makes a value once, whatever else happens in its folders", () => {
    const first = value();
    for (const other of ["system.md", ".system.md.tmp"]) {
      writeFileSync(at(`${controls}/${other}`), "x");
      expect(value()).toBe(first);
    }
    writeFileSync(at("agent/reviewer"), "x");
    expect(value()).toBe(first);
    expect([first, made]).toEqual([whole, 1]);
  });

  test("makes it anew when a name comes, and when it goes", async () => {
    value();
    writeFileSync(at(`${controls}/tools`), "fs.read\n");
    expect(value()).toEqual(["rwx\n", "fs.read\n"]);
    await settle();
    expect([value(), value()].map(([, tools]) => tools)).toEqual(["fs.read\n", "fs.read\n"]);
    unlinkSync(at(`${controls}/tools`));
    expect(value()).toEqual(whole);
  });

  test("makes it anew after a change of text, of mode, and of a folder's mode", async () => {
    const changes = [
      () => writeFileSync(at(`${controls}/perm`), "r--\n"),
      () => chmodSync(at("agent/coder"), 0o755),
      () => chmodSync(at(controls), 0o700),
    ];
    for (const change of changes) {
      await settle();
      value();
      const before = made;
      value();
      expect(made).toBe(before);
      change();
      value();
      expect(made).toBe(before + 1);
    }
    expect(value()).toEqual(["r--\n", "absent"]);
  });

  test("keeps nothing of a folder that another one has replaced", () => {
    value();
    renameSync(at(controls), at("old"));
    mkdirSync(at(controls));
    expect(value()).toEqual(["absent", "absent"]);
    writeFileSync(at(`${controls}/perm`), "---\n");
    expect(value()).toEqual(["---\n", "absent"]);
  });

  test("keeps nothing of the same folder once a symlink leads to it", () => {
    value();
    renameSync(at(controls), at("old"));
    symlinkSync("../old", at(controls));
    expect([value(), value()]).toEqual([
      ["not told", "not told"],
      ["not told", "not told"],
    ]);
    unlinkSync(at(controls));
    renameSync(at("agent"), at("moved"));
    renameSync(at("old"), at("moved/coder.d"));
    symlinkSync("moved", at("agent"));
    expect(value()).toEqual(["not told", "not told"]);
    expect(made).toBe(4);
    unlinkSync(at("agent"));
    renameSync(at("moved"), at("agent"));
    expect(value()).toEqual(whole);
  });

  test("keeps nothing when a name is a symlink or the folder is missing", () => {
    symlinkSync("perm", at(`${controls}/tools`));
    expect([value(), value()]).toEqual([
      ["rwx\n", "not told"],
      ["rwx\n", "not told"],
    ]);
    rmSync(at(controls), { recursive: true });
    expect([value(), value()].flat()).toEqual(Array(4).fill("not told"));
    expect(made).toBe(4);
  });

  test("is not deceived by what comes and goes while the value is made", () => {
    const flash = () => {
      writeFileSync(at(`${controls}/tools`), "bash\n");
      unlinkSync(at(`${controls}/tools`));
    };
    const decoy = () => {
      renameSync(at(controls), at("real"));
      mkdirSync(at(controls));
      writeFileSync(at(`${controls}/tools`), "bash\n");
    };
    const restore = () => {
      rmSync(at(controls), { recursive: true });
      renameSync(at("real"), at(controls));
    };
    expect(value(flash)).toEqual(whole);
    expect(value()).toEqual(whole);
    writeFileSync(at(`${controls}/perm`), "r--\n");
    const deceived = whileSame(root, "coder", places, (sight) => {
      decoy();
      const read = both(sight);
      restore();
      return read;
    });
    expect([deceived, value()]).toEqual([
      ["r--\n", "absent"],
      ["r--\n", "absent"],
    ]);
  });

  test("keeps no value that was overtaken while it was made", async () => {
    const overtake = () => writeFileSync(at(`${controls}/perm`), "---\n");
    value(overtake);
    await settle();
    expect(value()).toEqual(["---\n", "absent"]);
    expect(made).toBe(2);
  });

  test("keeps no value of a file that changed a moment ago", () => {
    writeFileSync(at(`${controls}/perm`), "r--\n");
    value();
    value();
    expect(made).toBe(2);
  });

  test("keeps values apart by key and by tree, and none that was not made", () => {
    const named = (key: string) => whileSame(root, key, places, () => ({ key }));
    expect([named("a"), named("b"), named("a")].map(({ key }) => key)).toEqual(["a", "b", "a"]);
    expect(named("a")).toBe(named("a"));
    expect(whileSame({ ...root }, "a", places, () => "other tree")).toBe("other tree");
    const failing = () =>
      whileSame(root, "bad", places, () => {
        made++;
        throw new Error("malformed");
      });
    for (const _ of [1, 2]) expect(failing).toThrow("malformed");
    expect(made).toBe(2);
  });

  test("refuses a look at what is not among the places", () => {
    for (const [folder, name] of [
      [controls, "policy"],
      ["tool", "perm"],
    ] as const) {
      const stray = () => whileSame(root, "stray", places, (sight) => sight.of(folder, name));
      expect(stray).toThrow("not among the places");
    }
  });
});
