import { afterAll, beforeAll, expect, test } from "bun:test";
import { appendFileSync, chownSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { RawClient } from "./raw-client.ts";
import { isRoot, World } from "./world.ts";

const world = new World();

beforeAll(async () => {
  await world.bootstrap();
  await world.run(["ctx", "set", "agent/coder.d/model", "debug/script"]);
  await world.serve();
});
afterAll(() => world.destroy());

function ask(request: object): RawClient {
  const client = new RawClient(`${world.source}/agent/coder.sock`, world.uid);
  return client.send({ op: "send", id: crypto.randomUUID(), input: "@say hi", ...request });
}

test("a temp session answers, continues and leaves nothing on the disk", async () => {
  const sessions = () => readdirSync(join(world.source, `home/${world.uid}/agent/coder/session`));
  const before = sessions();
  const first = ask({ session: "gone", scope: "temp", input: "@say one" });
  expect(await first.done()).toMatchObject({ status: "ok" });
  const resumed = ask({ op: "resume", session: "gone", scope: "temp" });
  expect(await resumed.done()).toMatchObject({ status: "ok" });
  const texts = resumed.frames.filter((frame) => frame.type === "message").map(({ role }) => role);
  expect(texts).toEqual(["user", "assistant"]);
  expect(sessions()).toEqual(before);
});

test("a shared session needs its space, and both lines of policy", async () => {
  const shared = { session: "plan", scope: "shared", shared: "project-a" };
  const refusal = async (request: object) =>
    (await ask(request).until((frame) => frame.type === "error"))?.["code"];
  expect(await refusal(shared)).toBe("ENOENT");
  const space = join(world.source, "shared/project-a");
  mkdirSync(space, { mode: 0o700 });
  if (isRoot) chownSync(space, world.uid, world.uid);
  expect(await refusal(shared)).toBe("EACCES");
  const policy = join(world.source, "agent/coder.d/policy");
  appendFileSync(policy, "allow coder_t shared:project-a read\n");
  expect(await refusal(shared)).toBe("EACCES");
  appendFileSync(policy, "allow coder_t shared:project-a write\n");
  expect(await ask(shared).done()).toMatchObject({ status: "ok" });
  expect(existsSync(join(space, "agent/coder/session/plan/events.jsonl"))).toBe(true);
});
