import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { ask, connect, Stage, update } from "../../testdata/run-socket/stage.ts";
import { type ProcessStamp, processFacts } from "../os/mod.ts";
import { placesMax } from "./bounds.ts";

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
  stage.roots = [processFacts(process.pid) as ProcessStamp];
});
afterEach(() => stage.end());

const peerUid = process.getuid?.() ?? 0;
const of = (session: string, scope = "private") => ({ agent: "coder", session, scope, peerUid });
const place = (session: string, scope?: string) => stage.sockets.place(of(session, scope));
const lease = (session: string, run: string) => stage.sockets.lease(of(session), run);

test("a place stays from run to run, with a socket while one is open", async () => {
  const folder = place("default");
  expect([readdirSync(folder), statSync(folder).mode & 0o777]).toEqual([[], 0o700]);
  const { ino } = statSync(folder);
  for (const id of ["a", "b"]) {
    const socket = stage.open({}, { folder });
    expect([socket.folder, readdirSync(folder)]).toEqual([folder, ["control.sock"]]);
    const connection = await connect(socket);
    expect(await ask(connection, update(id))).toMatchObject({ request_id: id, ok: true });
    await socket.close();
    expect([place("default"), readdirSync(folder), statSync(folder).ino]).toEqual([
      folder,
      [],
      ino,
    ]);
  }
});

describe("the place of a run", () => {
  test("is never that of another agent, scope or uid", () => {
    const whole = of("default");
    const { sockets } = stage;
    const places = [
      whole,
      { ...whole, agent: "reviewer" },
      { ...whole, scope: "shared:x" },
      { ...whole, scope: "shared:y" },
      { ...whole, scope: "temp" },
      { ...whole, peerUid: peerUid + 1 },
    ];
    const folders = places.map((one) => sockets.place(one));
    expect(new Set(folders).size).toBe(folders.length);
    expect(statSync(folders.at(-1) as string).mode & 0o777).toBe(0o711);
    // Free as all of them are, each is given to its own alone.
    const leased = places.map((one, index) => sockets.lease({ ...one, session: "s" }, `r${index}`));
    expect(leased).toEqual(folders);
  });

  test("is the one that its session had last, else the one that was freed last", () => {
    const first = lease("a", "run-a");
    const second = lease("b", "run-b");
    expect(second).not.toBe(first);
    stage.sockets.release("run-b");
    stage.sockets.release("run-a");
    expect(["a", "b", "new"].map((session) => place(session))).toEqual([first, second, first]);
    expect(lease("b", "run-b2")).toBe(second);
    expect(place("b")).toBe(second);
    expect([place("new"), lease("new", "run-new")]).toEqual([first, first]);
    // Its own is taken by now.
    expect([first, second]).not.toContain(place("a"));
  });

  test("is the run's until it is released, however often it asks", () => {
    const folder = lease("a", "run-1");
    expect(lease("a", "run-1")).toBe(folder);
    const socket = stage.open({}, { folder, run: "run-1" });
    expect(() => stage.open({}, { folder, run: "run-2" })).toThrow("another run has this folder");
    expect(lease("b", "run-2")).not.toBe(socket.folder);
    expect(() => stage.open({}, { folder: "/nonexistent" })).toThrow("is no folder of a run");
  });

  test("is never that of another open run, whatever is asked in whatever order", () => {
    const step = fc.record({
      what: fc.constantFrom("place", "lease", "release"),
      session: fc.integer({ min: 0, max: 3 }),
      scope: fc.constantFrom("private", "temp", "shared:x"),
      run: fc.integer({ min: 0, max: 5 }),
    });
    let round = 0;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const held = new Map<string, string>();
        const owners = new Map<string, string>();
        round += 1;
        for (const { what, session, scope, run: number } of steps) {
          const run = `${round}-${number}-${scope}`;
          const asked = of(`s${session}`, scope);
          if (what === "release") {
            stage.sockets.release(run);
            held.delete(run);
            continue;
          }
          const path =
            what === "place" ? stage.sockets.place(asked) : stage.sockets.lease(asked, run);
          expect(owners.get(path) ?? scope).toBe(scope);
          owners.set(path, scope);
          if (what === "place") continue;
          expect(held.get(run) ?? path).toBe(path);
          held.set(run, path);
          expect(new Set(held.values()).size).toBe(held.size);
        }
        for (const run of held.keys()) stage.sockets.release(run);
      }),
      { numRuns: 100 },
    );
  });
});

test("places are bounded: the one used least lately goes, never one in use", async () => {
  const used = lease("used", "run-1");
  const socket = stage.open({}, { folder: used });
  const runs = Array.from({ length: placesMax }, (_, n) => `r${n}`);
  const [first, ...rest] = runs.slice(0, placesMax - 1).map((run, n) => lease(`s${n}`, run));
  for (const run of runs) stage.sockets.release(run);
  stage.sockets.place({ ...of("new"), agent: "reviewer" });
  expect([existsSync(used), existsSync(first as string)]).toEqual([true, false]);
  expect(rest.every((path) => existsSync(path))).toBe(true);
  expect(readdirSync(dirname(used))).toHaveLength(placesMax);
  await socket.close();
});
