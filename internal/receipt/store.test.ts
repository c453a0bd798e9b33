import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parseReceipt, type Receipt, Receipts } from "./mod.ts";

const stamp = { pid: 4242, startTime: "123456" };
const receipt: Receipt = {
  ...{ kind: "terminal", id: "terminal-coder-s", agent: "coder", session: "s" },
  ...{ scope: "private", owner: 1000, generation: "0123456789abcdef0123456789abcdef" },
  ...{ supervisor: "systemd", unit: "u", invocation: "i", launch: stamp, root: stamp },
  ...{ socket: "/run/x/main.sock", control: "/run/x/control", folder: "/tree/x", view: "v" },
  ...{ ready: true, started_at: "2026-01-02T03:04:05.000Z" },
};

let base: string;
let receipts: Receipts;
beforeEach(() => {
  base = mkdtempSync("/tmp/ctx-receipt-");
  mkdirSync(join(base, "receipt"));
  receipts = new Receipts(join(base, "receipt"));
});
afterEach(() => {
  receipts.close();
  rmSync(base, { recursive: true, force: true });
});

describe("receipts", () => {
  test("are found as they were written, and a later one takes the place of an earlier", () => {
    expect(receipts.find(receipt)).toBeUndefined();
    receipts.write(receipt);
    expect(receipts.find(receipt)).toEqual(receipt);
    const next = { ...receipt, generation: "f".repeat(32), ready: false };
    receipts.write(next);
    expect(receipts.all()).toEqual({ receipts: [next], broken: [] });
  });

  test("can be read by nobody but the server", () => {
    receipts.write(receipt);
    const modes = readdirSync(join(base, "receipt")).map(
      (name) => lstatSync(join(base, "receipt", name)).mode & 0o777,
    );
    expect(modes).toEqual([0o600]);
  });

  test("of two terminals with one id are two", () => {
    const id = "terminal-a-b-c";
    const one = { ...receipt, id, agent: "a-b", session: "c" };
    const two = { ...receipt, id, agent: "a", session: "b-c" };
    receipts.write(one);
    receipts.write(two);
    expect(receipts.find(one)).toEqual(one);
    expect(receipts.find(two)).toEqual(two);
  });

  test("have room for the longest names", () => {
    const [agent, session] = ["a".repeat(64), "s".repeat(64)];
    const long = { ...receipt, agent, session, id: `terminal-${agent}-${session}` };
    receipts.write(long);
    expect(receipts.find(long)).toEqual(long);
  });

  test("of another generation are not removed", () => {
    receipts.write(receipt);
    receipts.remove({ ...receipt, generation: "f".repeat(32) });
    expect(receipts.find(receipt)).toEqual(receipt);
    receipts.remove(receipt);
    receipts.remove(receipt);
    expect(receipts.find(receipt)).toBeUndefined();
  });

  test("that are damaged or lead elsewhere are named and left alone", () => {
    writeFileSync(join(base, "receipt/a@b.json"), "{");
    writeFileSync(join(base, "elsewhere"), JSON.stringify(receipt));
    symlinkSync(join(base, "elsewhere"), join(base, "receipt/a@c.json"));
    receipts.write(receipt);
    const { receipts: good, broken } = receipts.all();
    expect(good).toEqual([receipt]);
    expect(broken.map(({ name }) => name).sort()).toEqual(["a@b.json", "a@c.json"]);
    expect(readdirSync(join(base, "receipt"))).toHaveLength(3);
  });
});

test.each([
  [{ kind: "tool" }, "kind"],
  [{ generation: "0123" }, "generation"],
  [{ owner: "1000" }, "owner"],
  [{ supervisor: "init" }, "supervisor"],
  [{ ready: "yes" }, "ready"],
  [{ unit: 7 }, "unit"],
  // A signal to such a number would go to many.
  [{ launch: { pid: -1, startTime: "1" } }, "launch"],
  [{ root: { pid: 0, startTime: "1" } }, "root"],
  [{ init: { pid: 1, startTime: "1" } }, "init"],
  [{ root: { pid: 7, startTime: "now" } }, "root"],
  [{ socket: undefined }, "socket"],
  // Paths are made of them.
  [{ agent: "../..", id: "terminal-../..-s" }, "names"],
  [{ session: "a/b", id: "terminal-coder-a/b" }, "names"],
  [{ id: "terminal-coder-t" }, "id"],
  [{ session: "t", id: "terminal-coder-t" }, "another terminal"],
])("parseReceipt() refuses %j", (change, what) => {
  const text = JSON.stringify({ ...receipt, ...change });
  expect(() => parseReceipt(text, "coder@s.json")).toThrow(what);
});
