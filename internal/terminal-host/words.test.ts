// Words about what a session has loaded, said at its terminal's socket by this very process. What is done
// with them is the test's; with real sessions they are tested end to end.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PlayedShell } from "../../testdata/run-socket/shell.ts";
import { ask } from "../../testdata/run-socket/stage.ts";
import { CodedError, coded, fail } from "../abi/mod.ts";
import { type ProcessStamp, processFacts } from "../os/mod.ts";
import { createRunSockets } from "../run-socket/mod.ts";
import { wordsWaitingMax } from "./bounds.ts";
import { createTerminalHost, type TerminalHost } from "./mod.ts";

const self = processFacts(process.pid) as ProcessStamp;

let runtime: string;
let host: TerminalHost;
let shell: PlayedShell;
let word: (args: readonly string[], signal: AbortSignal) => Promise<string>;

const folder = () => join(runtime, "terminal");

beforeEach(async () => {
  runtime = mkdtempSync("/tmp/ctx-terminal-words-");
  mkdirSync(folder());
  word = async (args) => args.join(" ");
  host = createTerminalHost({
    sockets: createRunSockets({ runtime, roots: () => [] }),
    ...{ tree: {} as never, server: {} as never, planner: {} as never },
    call: () => Promise.reject(new Error("no call is made here")),
    word: async ({ session, peerUid }, args, signal) =>
      `${session} of ${peerUid}: ${await word(args, signal)}`,
  });
  host.open({
    ...{ id: "terminal-coder-default", agent: "coder", session: "default" },
    ...{ scope: { kind: "private" }, peerUid: process.getuid?.() ?? 0, folder: folder() },
    roots: () => [self],
    viewDigest: "",
  });
  shell = await PlayedShell.connect(folder());
});

afterEach(async () => {
  shell.end();
  await host.closeAll();
  rmSync(runtime, { recursive: true, force: true });
});

describe("a word about what the session has loaded", () => {
  const say = (id: string, ...args: string[]) => ({ op: "tsh", request_id: id, args });

  test("is done for the terminal's own session, and answered under its id", async () => {
    const text = `default of ${process.getuid?.()}: pin fs.read`;
    const answer = await ask(shell.connection, say("w1", "pin", "fs.read"));
    expect(answer).toEqual({ request_id: "w1", ok: true, text });
    expect(await ask(shell.connection, say("w1", "loads"))).toMatchObject({ code: "EALREADY" });
    expect(await shell.offer()).toMatchObject({ ok: true });
  });

  test("that is refused says why, and what is no word is refused before anybody is asked", async () => {
    word = () => Promise.reject(coded(new Error("no")));
    expect(await ask(shell.connection, say("w1", "loads"))).toMatchObject({ code: "EIO" });
    word = async () => fail("ENOENT", 'tool "fs.none" does not exist');
    const refused = { request_id: "w2", ok: false, code: "ENOENT" };
    expect(await ask(shell.connection, say("w2", "load", "fs.none"))).toEqual({
      ...refused,
      message: 'tool "fs.none" does not exist',
    });
    word = () => Promise.reject(new Error("was asked"));
    for (const [at, args] of [
      ["shell.exec", "id"],
      ["tools"],
      ["load"],
      ["pin", "../x"],
    ].entries()) {
      const answer = await ask(shell.connection, say(`e${at}`, ...args));
      expect(answer).toMatchObject({ ok: false, code: "EINVAL" });
    }
  });

  test("is given up with its connection, and few wait at a time", async () => {
    const waiting: AbortSignal[] = [];
    const full = Promise.withResolvers<void>();
    word = (_, signal) => {
      waiting.push(signal);
      if (waiting.length === wordsWaitingMax) full.resolve();
      const { promise, reject } = Promise.withResolvers<string>();
      signal.addEventListener("abort", () => reject(new CodedError("ECANCELED", "was given up")));
      return promise;
    };
    const others = await Promise.all(
      Array.from({ length: wordsWaitingMax }, () => PlayedShell.connect(folder())),
    );
    for (const [at, { connection }] of others.entries()) {
      void connection.send(`${JSON.stringify(say(`w${at}`, "loads"))}\n`);
    }
    await full.promise;
    expect(await ask(shell.connection, say("more", "loads"))).toMatchObject({ code: "busy" });
    expect(waiting.map(({ aborted }) => aborted)).toEqual(waiting.map(() => false));
    const gone = waiting.map(
      (signal) => new Promise((resolve) => signal.addEventListener("abort", resolve)),
    );
    for (const other of others) other.end();
    expect(await Promise.all(gone)).toHaveLength(wordsWaitingMax);
  });
});
