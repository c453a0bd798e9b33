import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RawClient } from "./raw-client.ts";
import { World } from "./world.ts";

const world = new World();
const stored = "sk-stored-4f1d7c";
const callers = "caller-variable-93ab";
const servers = "server-variable-17ce";

beforeAll(async () => {
  await world.bootstrap();
  await world.run(["ctx", "set", "agent/coder.d/model", "debug/script"]);
  const folder = join(world.base, "secrets/provider/acme");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(join(world.base, "secrets/provider"), 0o700);
  writeFileSync(join(folder, "default"), `${stored}\n`, { mode: 0o600 });
  await world.serve([], { ACME_API_KEY: servers, OPENAI_API_KEY: servers });
});
afterAll(() => world.destroy());

/** Every regular file below a folder, as one text; sockets and links are passed over. */
function allText(folder: string): string {
  let text = "";
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const facts = statSync(path, { throwIfNoEntry: false });
    if (facts?.isDirectory()) text += allText(path);
    else if (facts?.isFile() && facts.size < 4_000_000) text += readFileSync(path, "latin1");
  }
  return text;
}

test("no secret and no foreign variable reaches a tool, a frame, a log or a file", async () => {
  const probe =
    "env; for p in /proc/[0-9]*; do cat $p/environ $p/cmdline; done 2>/dev/null | tr '\\0' '\\n'; " +
    "cat /proc/self/mountinfo; grep -rs sk-stored / --include=default 2>/dev/null | head -3; true";
  const input = `@call shell.exec ${JSON.stringify({ cmd: probe })}\n@result`;
  const client = new RawClient(`${world.source}/agent/coder.sock`, world.uid).send({
    op: "send",
    id: "probe",
    session: "secrets",
    workspace: world.workspace,
    input,
  });
  expect(await client.done()).toMatchObject({ status: "ok" });
  const frames = JSON.stringify(client.frames);
  expect(frames).toContain("CTX_AGENT=coder");
  const sent = await world.run(["ctx", "agent", "send", "coder", "--session", "s2", input], {
    env: { ACME_API_KEY: callers, MY_TOKEN: callers },
  });
  expect(sent.exit).toBe(0);
  const everything = [
    frames,
    sent.stdout,
    sent.stderr,
    await world.log(),
    allText(join(world.base, "current/home")),
    allText(join(world.base, "current/agent")),
    allText(join(world.base, "current/tool")),
    allText(join(world.base, "run")),
  ].join("\n");
  expect(everything).toContain("CTX_RUN_ID=");
  for (const secret of [servers, callers, "sk-stored-4f1d7c"]) {
    // The probe itself names the stored key's prefix only, so a whole key found is a leak.
    expect(everything.includes(secret)).toBe(false);
  }
}, 60_000);
