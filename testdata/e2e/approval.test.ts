// Approvals over the wire, through the compiled server: what an answer can mean, and that nothing
// else runs a call.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RawClient } from "./raw-client.ts";
import { type Frame, World } from "./world.ts";

const world = new World();
const opened: RawClient[] = [];
let number = 0;

beforeAll(async () => {
  await world.bootstrap();
  await world.run(["ctx", "set", "agent/coder.d/model", "debug/script"]);
  await world.run(["ctx", "set", "agent/coder.d/approval", "ask"]);
  await world.run(["ctx", "set", "agent/reviewer.d/model", "debug/script"]);
  // One place for a sandbox: a call that waits must not hold it.
  await world.serve(["--set", "launches_parallel=1"]);
});
afterAll(async () => {
  for (const client of opened) client.end();
  await world.destroy();
});

function connect(): RawClient {
  const client = new RawClient(join(world.source, "agent/coder.sock"), world.uid);
  opened.push(client);
  return client;
}

const made = (name: string) => existsSync(join(world.workspace, name));

interface Asked {
  readonly client: RawClient;
  readonly name: string;
  readonly session: string;
  readonly request: Frame;
  readonly run: string;
}

/** Sends a run whose one call makes a file of a fresh name, and waits until it is asked about. */
async function ask(more = ""): Promise<Asked> {
  number += 1;
  const name = `file-${number}`;
  const session = `approval-${number}`;
  const input = `@call shell.exec {"cmd":"touch ${name}"}\n${more}@result`;
  const client = connect().send({
    ...{ op: "send", id: `msg-${number}`, session, input },
    workspace: world.workspace,
  });
  const request = await client.until((frame) => frame.type === "approval_request");
  if (request === undefined) throw new Error(`not asked: ${JSON.stringify(client.frames)}`);
  return { client, name, session, request, run: String(request.run) };
}

const answer = ({ run, request }: Asked, decision: string, more: object = {}) => ({
  ...{ op: "approve", run, id: request.id, decision },
  ...more,
});

const resultOf = (client: RawClient) => client.until((frame) => frame.type === "tool_result");
const approvals = (session: string) =>
  world
    .events(session)
    .filter(({ type }) => String(type).startsWith("approval."))
    .map(({ type, status }) => (status === undefined ? type : status));

test("the request shows the exact call, and allow_once runs it once", async () => {
  const asked = await ask();
  const { client, name, request, session } = asked;
  expect(made(name)).toBe(false);
  expect(request).toMatchObject({
    ...{ name: "shell.exec", args: { cmd: `touch ${name}` }, cwd: "/workspace" },
    run: asked.run,
  });
  expect(String(request["digest"])).toMatch(/^[0-9a-f]{64}$/);
  expect(Date.parse(String(request["expires_at"])) - Date.now()).toBeGreaterThan(100_000);
  expect(client.frames.find(({ type }) => type === "tool_call")?.id).toBe(request.id);
  const status = await world.run(["ctx", "agent", "status", "coder", "--session", session]);
  expect(status.stdout).toContain("approval");
  client.send(answer(asked, "allow_once", { digest: request["digest"] }));
  expect(await client.done()).toMatchObject({ status: "ok" });
  expect(made(name)).toBe(true);
  expect(approvals(session)).toEqual(["approval.request", "allowed"]);
});

test("a deny runs nothing, and its reason is what the model is told", async () => {
  const asked = await ask();
  asked.client.send(answer(asked, "deny", { reason: "use another name" }));
  const result = await resultOf(asked.client);
  expect(result).toMatchObject({ status: "error", code: "EACCES" });
  expect(result?.["content"]).toContain("use another name");
  await asked.client.done();
  expect(JSON.stringify(world.messages(asked.session))).toContain("use another name");
  expect(made(asked.name)).toBe(false);
});

test.each<[string, (asked: Asked) => unknown]>([
  ["another digest", (asked) => answer(asked, "allow_once", { digest: "0".repeat(64) })],
  ["another call", (asked) => answer(asked, "allow_once", { id: "call-1" })],
  ["another run", (asked) => answer(asked, "allow_once", { run: `ctx-${"0".repeat(32)}` })],
  ["an unknown decision", (asked) => answer(asked, "allow_always")],
  ["no decision", (asked) => ({ ...answer(asked, ""), decision: undefined })],
  ["too long a reason", (asked) => answer(asked, "deny", { reason: "x".repeat(4097) })],
  ["no JSON at all", () => undefined],
])("an answer with %s denies, and the peer is told", async (_, line) => {
  const asked = await ask();
  const { client } = asked;
  const given = line(asked);
  if (given === undefined) client.bytes("yes\n");
  else client.send(given);
  expect(await client.until(({ type }) => type === "error")).toBeDefined();
  expect(await resultOf(client)).toMatchObject({ status: "error", code: "EACCES" });
  client.send(answer(asked, "allow_once"));
  expect(await client.done()).toMatchObject({ status: "ok" });
  expect(made(asked.name)).toBe(false);
});

test("a hundred answers give one decision, and the next call is asked about anew", async () => {
  const asked = await ask('@call shell.exec {"cmd":"touch second"}\n');
  const line = `${JSON.stringify(answer(asked, "allow_once"))}\n`;
  asked.client.bytes(line.repeat(100));
  const second = await asked.client.until(
    ({ type, id }) => type === "approval_request" && id !== asked.request.id,
  );
  expect(made(asked.name)).toBe(true);
  expect(made("second")).toBe(false);
  expect(second?.["digest"]).not.toBe(asked.request["digest"]);
  asked.client.send({ op: "approve", run: asked.run, id: second?.id, decision: "deny" });
  await asked.client.done();
  expect(made("second")).toBe(false);
  expect(asked.client.frames.filter(({ type }) => type === "error")).toEqual([]);
  expect(approvals(asked.session)).toEqual([
    ...["approval.request", "allowed"],
    ...["approval.request", "denied"],
  ]);
});

test("an allow before a deny stands, a deny before an allow too", async () => {
  for (const [first, second, ran] of [
    ["allow_once", "deny", true],
    ["deny", "allow_once", false],
  ] as const) {
    const asked = await ask();
    asked.client.send(answer(asked, first)).send(answer(asked, second));
    await asked.client.done();
    expect(made(asked.name)).toBe(ran);
    expect(await asked.client.until(({ type }) => type === "error")).toBeDefined();
  }
});

test("the end of what the origin says denies at once, and so it does when it came first", async () => {
  const asked = await ask();
  asked.client.socket.end();
  expect(await resultOf(asked.client)).toMatchObject({ status: "error", code: "EACCES" });
  expect(await asked.client.done()).toMatchObject({ status: "ok" });
  expect(made(asked.name)).toBe(false);

  const early = connect();
  const input = '@call shell.exec {"cmd":"touch early"}\n@result';
  early.send({ op: "send", id: "early", session: "early", input, workspace: world.workspace });
  early.socket.end();
  expect(await early.done()).toMatchObject({ status: "ok" });
  expect(early.frames.filter(({ type }) => type === "approval_request")).toEqual([]);
  expect(approvals("early")).toEqual(["approval.request", "origin_lost"]);
  expect(made("early")).toBe(false);
});

test("a lost connection denies, and the run goes on without it", async () => {
  const asked = await ask();
  asked.client.end();
  const watcher = connect().send({ op: "resume", session: asked.session });
  expect(await watcher.done()).toMatchObject({ status: "ok" });
  expect(approvals(asked.session)).toEqual(["approval.request", "origin_lost"]);
  expect(made(asked.name)).toBe(false);
});

test("a second client sees no request, cannot answer, and leaves the waiting one alone", async () => {
  const asked = await ask();
  const { session, request } = asked;
  const alone = connect().send(answer(asked, "allow_once", { digest: request["digest"] }));
  expect(await alone.until(({ type }) => type === "error")).toMatchObject({ code: "EACCES" });
  const watcher = connect().send({ op: "resume", session });
  await watcher.until(({ type }) => type === "tool_call");
  watcher.send(answer(asked, "allow_once")).bytes("garbage\n");
  expect(await watcher.until(({ type }) => type === "error")).toMatchObject({ code: "EACCES" });
  const input = `@call shell.exec {"cmd":"touch ${asked.name}"}\n@result`;
  const again = connect().send({
    ...{ op: "send", id: `msg-${number}`, session, input },
    workspace: world.workspace,
  });
  await again.until(({ type }) => type === "tool_call");
  again.send(answer(asked, "allow_once"));
  expect(await again.until(({ type }) => type === "error")).toMatchObject({ code: "EACCES" });
  expect(approvals(session)).toEqual(["approval.request"]);
  asked.client.send(answer(asked, "allow_once"));
  expect(await watcher.done()).toMatchObject({ status: "ok" });
  for (const { frames } of [watcher, again]) {
    expect(frames.some(({ type }) => type === "approval_request")).toBe(false);
  }
  expect(made(asked.name)).toBe(true);
});

test("a cancel ends what waits, also for an answer that comes after it", async () => {
  const asked = await ask();
  const other = connect().send({ op: "cancel", id: asked.run });
  expect(await other.done()).toMatchObject({ status: "cancelled" });
  expect(await asked.client.done()).toMatchObject({ status: "cancelled" });
  asked.client.send(answer(asked, "allow_once"));
  await asked.client.closed;
  expect(approvals(asked.session)).toEqual(["approval.request", "cancelled"]);
  expect(made(asked.name)).toBe(false);
});

test("another session goes on, and status, cancel and ping are answered beside what waits", async () => {
  const asked = await ask();
  const sent = await world.run(["ctx", "agent", "send", "coder", "--session", "beside", "@say hi"]);
  expect(sent).toMatchObject({ exit: 0, stdout: "hi\n" });
  const script = '@call fs.list {"path":"/workspace"}\n@say listed';
  const listed = await world.run(["ctx", "agent", "send", "reviewer", script]);
  expect(listed).toMatchObject({ exit: 0, stdout: "listed\n" });
  expect(listed.stderr).toContain("fs.list ok");
  asked.client.send({ op: "ping" });
  await asked.client.until(({ type }) => type === "pong");
  asked.client.send({ op: "send", id: "x", input: "y" });
  expect(await asked.client.until(({ type }) => type === "error")).toMatchObject({
    code: "EINVAL",
  });
  asked.client.send(answer(asked, "allow_once"));
  await asked.client.done();
  expect(made(asked.name)).toBe(true);
});

test("what changes while a call waits denies it and is named", async () => {
  const asked = await ask();
  const tool = join(world.source, "tool/shell.exec");
  const bytes = readFileSync(tool);
  writeFileSync(`${tool}.new`, bytes, { mode: 0o755 });
  renameSync(`${tool}.new`, tool);
  asked.client.send(answer(asked, "allow_once"));
  const result = await resultOf(asked.client);
  expect(result).toMatchObject({ status: "error", code: "ECANCELED" });
  expect(result?.["content"]).toContain("its executable is not what was approved");
  await asked.client.done();

  const second = await ask();
  const perm = join(world.source, "agent/coder.d/perm");
  writeFileSync(perm, "rw-\n");
  second.client.send(answer(second, "allow_once"));
  expect(await resultOf(second.client)).toMatchObject({ status: "error", code: "EACCES" });
  await second.client.done();
  writeFileSync(perm, "rwx\n");
  expect(made(asked.name) || made(second.name)).toBe(false);
});

test("a kill of the server ends what waits as interrupted, and nothing runs later", async () => {
  const asked = await ask();
  await world.stop("SIGKILL");
  await world.serve(["--set", "approval_timeout_ms=400"]);
  const watcher = connect().send({ op: "resume", session: asked.session });
  expect(await watcher.done()).toMatchObject({ status: "interrupted" });
  watcher.send(answer(asked, "allow_once"));
  expect(approvals(asked.session)).toEqual(["approval.request", "interrupted"]);
  expect(made(asked.name)).toBe(false);
});

test("an origin that stays silent is denied when the time is over", async () => {
  const asked = await ask();
  const result = await resultOf(asked.client);
  expect(result).toMatchObject({ status: "error", code: "ETIMEDOUT" });
  asked.client.send(answer(asked, "allow_once"));
  expect(await asked.client.done()).toMatchObject({ status: "ok" });
  expect(approvals(asked.session)).toEqual(["approval.request", "timed_out"]);
  expect(made(asked.name)).toBe(false);
});

test("a clean stop ends what waits as interrupted", async () => {
  await world.stop();
  await world.serve();
  const asked = await ask();
  const stopped = world.stop();
  expect(await asked.client.done()).toMatchObject({ status: "interrupted" });
  expect(await stopped).toBe(0);
  expect(approvals(asked.session)).toEqual(["approval.request", "interrupted"]);
  expect(made(asked.name)).toBe(false);
});
