// Which sockets a client takes for a terminal, with real files: what is planted is refused or passed
// over, and names of any length are reached.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { listenUnix } from "../os/mod.ts";
import { joinFirst } from "./terminal-connection.ts";
import {
  type TerminalName,
  terminalFolder,
  terminalId,
  terminalSockets,
} from "./terminal-place.ts";

const uid = process.getuid?.() ?? 0;
let base = "";
let places = { mode: "user" as const, source: "", runtime: "" };
const listeners: { stop(closing?: boolean): void }[] = [];

beforeEach(() => {
  base = mkdtempSync("/tmp/ctx-place-");
  places = { mode: "user", source: join(base, "tree"), runtime: join(base, "run") };
  mkdirSync(places.source);
  mkdirSync(places.runtime);
});
afterEach(() => {
  for (const listener of listeners.splice(0)) listener.stop(true);
  rmSync(base, { recursive: true, force: true });
});

const name = (part = "one"): TerminalName => ({
  agent: `a-${part}`,
  session: `s-${part}`,
  owner: uid,
});

/** Listens at a path of any length and counts who came. */
function listen(path: string): { came: () => number } {
  mkdirSync(dirname(path), { recursive: true });
  let count = 0;
  const folder = mkdtempSync("/tmp/ctx-l-");
  symlinkSync(dirname(path), join(folder, "d"));
  const unix = join(folder, "d", "main.sock");
  listeners.push(Bun.listen({ unix, socket: { open: () => count++ as never, data: () => {} } }), {
    stop: () => rmSync(folder, { recursive: true, force: true }),
  });
  return { came: () => count };
}

function alias(of: TerminalName, target: string): void {
  const path = join(places.source, terminalFolder(of), "main.sock");
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

const placeOf = (of: TerminalName) =>
  `${places.runtime}/terminal/${of.agent}/${of.session}/main.sock`;

function found(of: TerminalName): string[] {
  return [...terminalSockets(places, of)].map(({ path, fd }) => {
    closeSync(fd);
    return path;
  });
}

describe("terminalSockets()", () => {
  test("gives the alias's target first, then the runtime path, and nothing where there is none", () => {
    expect(found(name())).toEqual([]);
    listen(placeOf(name()));
    const other = `${places.runtime}/tree-x/terminal/one/main.sock`;
    listen(other);
    alias(name(), other);
    expect(found(name())).toEqual([other, placeOf(name())]);
  });

  test("refuses an alias that leads out of the runtime folders", () => {
    const outside = join(base, "elsewhere/main.sock");
    listen(outside);
    for (const [part, target] of [
      ["out", outside],
      ["up", `${places.runtime}/../elsewhere/main.sock`],
      ["here", "main.sock"],
    ] as const) {
      alias(name(part), target);
      expect(() => found(name(part))).toThrow(/which is no runtime folder/);
    }
  });

  test("refuses a symlink, a file and a folder in a socket's place", () => {
    const plant: Record<string, (path: string) => void> = {
      link: (path) => symlinkSync("/run/x.sock", path),
      file: (path) => writeFileSync(path, ""),
      folder: (path) => mkdirSync(path),
    };
    for (const [part, make] of Object.entries(plant)) {
      const path = placeOf(name(part));
      mkdirSync(dirname(path), { recursive: true });
      make(path);
      expect(() => found(name(part))).toThrow(expect.objectContaining({ code: "EACCES" }));
    }
  });

  test("refuses a symlink on the way to the socket, and to the alias", () => {
    listen(join(base, "elsewhere/main.sock"));
    const of = name("way");
    mkdirSync(`${places.runtime}/terminal/${of.agent}`, { recursive: true });
    symlinkSync(join(base, "elsewhere"), dirname(placeOf(of)));
    expect(() => found(of)).toThrow(/a symlink stands there/);
    const planted = name("planted");
    const home = join(places.source, dirname(dirname(terminalFolder(planted))));
    mkdirSync(home, { recursive: true });
    symlinkSync(join(base, "elsewhere"), join(home, planted.session));
    expect(() => found(planted)).toThrow(/a symlink stands in the way/);
  });

  test("refuses a socket of another uid", () => {
    if (uid !== 0) {
      console.log("SKIP a socket of another uid: needs root to make one");
      return;
    }
    listen(placeOf(name()));
    chownSync(placeOf(name()), 61184, 61184);
    expect(() => found(name())).toThrow(/it belongs to uid 61184/);
  });
});

describe("joinFirst()", () => {
  test("reaches names of 64 characters, past a socket at which nobody listens", async () => {
    const of = { agent: "a".repeat(64), session: "s".repeat(64), owner: uid };
    expect(terminalId(of).length).toBe(138);
    const dead = `${places.runtime}/dead/main.sock`;
    mkdirSync(dirname(dead));
    // As a terminal that was killed leaves it.
    closeSync(listenUnix(dead, 1));
    alias(of, dead);
    const alive = listen(placeOf(of));
    expect(found(of)).toEqual([dead, placeOf(of)]);
    const connection = await joinFirst(terminalSockets(places, of), of, "watch");
    expect(connection?.path).toBe(placeOf(of));
    expect(connection?.peer.uid).toBe(uid);
    connection?.close();
    expect(alive.came()).toBe(1);
  });

  test("is undefined where nobody listens", async () => {
    expect(await joinFirst(terminalSockets(places, name()), name(), "watch")).toBeUndefined();
  });
});
