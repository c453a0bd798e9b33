// An answer longer than one line of the session's file is kept in pieces; a person sees it whole.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownerUid, Place } from "../../testdata/cli/program.ts";

setDefaultTimeout(120_000);

const place = new Place();
afterAll(() => place.remove());

beforeAll(async () => {
  await place.bootstrap();
  const session = join(place.source, `home/${ownerUid}/agent/coder/session/pieces`);
  mkdirSync(session, { recursive: true });
  const line = (seq: number, role: string, run: string, text: string) =>
    `${JSON.stringify({ id: `msg-${seq}`, seq, ts: "t", run, role, content: [{ type: "text", text }] })}\n`;
  const lines = [
    line(3, "user", "ctx-1", "question"),
    line(5, "assistant", "ctx-1", "before the call"),
    line(8, "assistant", "ctx-1", "one,"),
    line(9, "assistant", "ctx-1", "two,"),
    line(10, "assistant", "ctx-1", "three"),
  ];
  writeFileSync(join(session, "messages.jsonl"), lines.join(""));
  const team = join(place.source, "shared/team/agent/coder/session");
  mkdirSync(join(team, "index"), { recursive: true });
  mkdirSync(join(team, "plan"));
  writeFileSync(join(team, "index/current"), "plan\n");
  writeFileSync(join(team, "plan/messages.jsonl"), line(5, "assistant", "ctx-1", "for the team"));
  writeFileSync(join(team, "plan/state"), "done\n");
});

describe("a shared session", () => {
  const shared = ["--scope", "shared:team"];

  test("is found by its space's own current one", async () => {
    expect((await place.ctx("agent", "output", "coder", ...shared)).out).toBe("for the team\n");
    const { out } = await place.ctx("history", ...shared, "--session", "plan", "--json");
    expect(JSON.parse(out)).toMatchObject({ id: "msg-5", role: "assistant" });
    const status = await place.ctx("agent", "status", "coder", ...shared, "--json");
    expect(JSON.parse(status.out)).toMatchObject({ session: "plan", status: "done" });
  });

  test("is not looked for where there is none, and a temp one leaves nothing to read", async () => {
    const none = await place.ctx("agent", "output", "coder", "--scope", "shared:none");
    expect([none.exit, none.err]).toEqual([1, expect.stringContaining("[ENOENT]")]);
    const temp = await place.ctx("agent", "history", "coder", "--scope", "temp");
    expect([temp.exit, temp.err]).toEqual([2, expect.stringContaining("leaves nothing to read")]);
  });
});

describe("a long answer", () => {
  test("is whole in output", async () => {
    const { out } = await place.ctx("agent", "output", "coder", "--session", "pieces");
    expect(out).toBe("one,two,three\n");
  });

  test("is one message in history", async () => {
    const shown = ["agent", "history", "coder", "--session", "pieces", "-n", "2", "--json"];
    const { out } = await place.ctx(...shown);
    const texts = out.trimEnd().split("\n");
    expect(texts.map((line) => JSON.parse(line).id)).toEqual(["msg-5", "msg-8"]);
  });
});

const main = join(import.meta.dir, "main.ts");

test("a value is read from a pipe that somebody made non-blocking", async () => {
  if (Bun.which("python3") === null) return console.log("SKIP python3 is not there to make one");
  const script = `
import os, subprocess, sys, time
r, w = os.pipe()
os.set_blocking(r, False)
child = subprocess.Popen(sys.argv[1:], stdin=r)
time.sleep(0.3)
os.write(w, b"rwx\\n")
os.close(w)
sys.exit(child.wait())`;
  const set = [process.execPath, main, "set", "agent/coder.d/perm", "-"];
  const child = Bun.spawn(["python3", "-c", script, ...set], {
    env: { ...place.env },
    stderr: "pipe",
  });
  expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""]);
});

test("a folder as standard input is named", async () => {
  const send = [process.execPath, main, "agent", "send", "coder", "-"];
  const child = Bun.spawn(["/bin/sh", "-c", '"$@" < /', "sh", ...send], {
    env: { ...place.env },
    cwd: place.work,
    stderr: "pipe",
  });
  expect(await new Response(child.stderr).text()).toBe(
    "ctx: cannot read standard input: it is a folder [EINVAL]\n",
  );
});
