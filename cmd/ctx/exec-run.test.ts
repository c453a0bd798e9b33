// agent.update and models as a program in a run executes them: a real sandbox, a real capability
// socket, handlers that note what they are asked.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { CodedError } from "../../internal/abi/mod.ts";
import { childDescriptors, hostProgram, startSandbox } from "../../internal/bwrap/mod.ts";
import type { ModelUseRequest, UpdateRequest } from "../../internal/capability/mod.ts";
import { sameProcess } from "../../internal/os/mod.ts";
import type { RunSocket } from "../../internal/run-socket/mod.ts";
import { bwrapArguments, seccompProgram } from "../../internal/sandbox/mod.ts";
import { Stage } from "../../testdata/run-socket/stage.ts";
import { plainSpec } from "../../testdata/sandbox/plain-spec.ts";

const repository = resolve(import.meta.dir, "../..");
const missing = hostProgram("bwrap") === undefined;
if (missing) console.log("SKIP objects executed in a run: bubblewrap is not installed");

const isRoot = process.getuid?.() === 0;
const agentUid = isRoot ? 61184 : (process.getuid?.() ?? 0);
const identity = isRoot ? { uid: agentUid, gid: agentUid, groups: [] } : undefined;
const slowMs = 120_000;

const names = { CTX_AGENT: "coder", CTX_SESSION: "default", CTX_RUN_ID: "run-1" };
const socketVariable = { CTX_CONTROL_SOCKET: "/run/cortexfs/control.sock" };
const standing = { CTX_ROOT: "/ctx", HOME: "/tmp", ...names, ...socketVariable };

describe.skipIf(missing)("in a run", () => {
  let base = "";
  let stage: Stage;
  let socket: RunSocket;
  const updates: UpdateRequest[] = [];
  const uses: ModelUseRequest[] = [];
  beforeAll(() => {
    base = mkdtempSync("/tmp/ctx-exec-run-");
    for (const name of ["etc", "ctx", "work", "ctx/tool", "ctx/model", "ctx/model/debug"]) {
      mkdirSync(join(base, name));
    }
    for (const name of ["tool/agent.update", "model/debug/echo"]) {
      writeFileSync(join(base, "ctx", name), "#!/ctx/bin/ctx exec\n");
    }
    chmodSync(base, 0o755);
    stage = new Stage();
    chmodSync(stage.runtime, 0o711);
    const handlers = {
      update: async (request: UpdateRequest) => {
        updates.push(request);
        if (request.content === "refuse") throw new CodedError("EROFS", "it is read-only");
        return { request_id: request.request_id, ok: true, control: request.control } as const;
      },
      useModel: async (
        request: ModelUseRequest,
        emit: (frame: { type: "delta"; text: string }) => void,
      ) => {
        uses.push(request);
        if (request.model === "debug/none") throw new CodedError("EACCES", "no line allows it");
        emit({ type: "delta", text: "answer" });
        if (request.messages[0]?.content !== "fail") return { status: "ok" } as const;
        throw new CodedError("EHOSTDOWN", "the provider is away");
      },
    };
    socket = stage.open(handlers, { peerUid: agentUid });
  });
  afterAll(async () => {
    await stage.end();
    rmSync(base, { recursive: true, force: true });
  });

  async function exec(
    words: readonly string[],
    input: string,
    env: Readonly<Record<string, string>> = {},
  ) {
    const spec = plainSpec(base, { env: new Map(Object.entries({ ...standing, ...env })) });
    const shown = [
      { host: socket.folder, view: "/run/cortexfs", access: "ro" },
      { host: repository, view: "/repository", access: "ro" },
      { host: process.execPath, view: "/bun", access: "ro" },
    ] as const;
    const sandbox = await startSandbox({
      arguments: bwrapArguments({ ...spec, binds: [...spec.binds, ...shown] }, childDescriptors),
      seccomp: seccompProgram(process.arch === "arm64" ? "arm64" : "x64", { network: false }),
      program: ["/bun", "/repository/cmd/ctx/main.ts", "exec", ...words],
      combined: false,
      stdin: new TextEncoder().encode(input),
      identity,
      signal: new AbortController().signal,
      register: (root) => {
        stage.roots = [...stage.roots, root];
      },
    });
    const [out, err] = await Promise.all([textOf(sandbox.stdout), textOf(sandbox.stderr)]);
    const exit = await sandbox.exited;
    await sandbox.kill(0);
    stage.roots = stage.roots.filter(sameProcess);
    return { exit, out, err };
  }

  const native = { CTX_TOOL_MODE: "native" };
  const tool = "/ctx/tool/agent.update";
  const result = (out: string) => JSON.parse(out) as Record<string, unknown>;

  test(
    "agent.update asks under the run's names and a fresh id, and answers as a native tool",
    async () => {
      const input = `${JSON.stringify({ control: "system.md", content: "Be careful.\n" })}\n`;
      const answer = {
        type: "result",
        status: "ok",
        content: "system.md was replaced; it takes effect at the next run\n",
      };
      const once = await exec([tool], input, native);
      expect([once.exit, once.err, result(once.out)]).toEqual([0, "", answer]);
      // A launcher that started the runner early gives it the path on standard input.
      const again = await exec(["-"], `${tool}\n${input}`, native);
      expect(result(again.out)).toEqual(answer);
      const asked = updates.splice(0);
      expect(asked).toEqual(
        asked.map(({ request_id }) => ({
          ...{ op: "agent.update", request_id, agent: "coder", session: "default" },
          ...{ run: "run-1", control: "system.md", content: "Be careful.\n" },
        })),
      );
      expect(new Set(asked.map(({ request_id }) => request_id)).size).toBe(2);
    },
    slowMs,
  );

  test(
    "agent.update passes the host's refusal on, and refuses an input of the wrong form itself",
    async () => {
      for (const [input, code] of [
        [{ control: "system.md", content: "refuse" }, "EROFS"],
        [{ control: "policy", content: "x" }, "EINVAL"],
        [{ control: "system.md", content: "x".repeat(8193) }, "EMSGSIZE"],
        [{ control: "system.md" }, "EINVAL"],
        [{ control: "system.md", content: "x", agent: "reviewer" }, "EINVAL"],
        ["text", "EINVAL"],
      ] as const) {
        const { exit, out } = await exec([tool], JSON.stringify(input), native);
        expect([input, exit, result(out)]).toEqual([
          input,
          0,
          { type: "result", status: "error", code, content: expect.stringContaining(`[${code}]`) },
        ]);
      }
      const strange = { ...native, CTX_RUN_ID: "run-2" };
      const { out } = await exec([tool], '{"control":"system.md","content":"x"}', strange);
      expect(result(out)).toMatchObject({ status: "error", code: "EACCES" });
      expect(updates.splice(0).map(({ content }) => content)).toEqual(["refuse"]);
    },
    slowMs,
  );

  test(
    "agent.update in a terminal takes words or an object, and a text from standard input",
    async () => {
      const said = "prompt.template.md was replaced; it takes effect at the next run\n";
      for (const [words, input] of [
        [["prompt.template.md", "new"], ""],
        [["prompt.template.md"], "new"],
        [['{"control":"prompt.template.md","content":"new"}'], ""],
      ] as const) {
        expect(await exec([tool, ...words], input)).toEqual({ exit: 0, out: said, err: "" });
      }
      expect(updates.splice(0).map(({ control, content }) => [control, content])).toEqual(
        Array.from({ length: 3 }, () => ["prompt.template.md", "new"]),
      );
      const refused = await exec([tool, "system.md", "refuse"], "");
      expect([refused.exit, refused.out, refused.err]).toEqual([
        1,
        "",
        "ctx: it is read-only [EROFS]\n",
      ]);
      const alone = await exec([tool, "system.md", "x"], "", { CTX_CONTROL_SOCKET: "" });
      expect([alone.exit, alone.err]).toEqual([69, expect.stringContaining("CTX_CONTROL_SOCKET")]);
      updates.splice(0);
    },
    slowMs,
  );

  test(
    "a model's frames come from the host as op frames, and its end is the exit status",
    async () => {
      const model = "/ctx/model/debug/echo";
      const frame = (n: number, rest: object) => ({ id: `frame-${n}`, run: "run-1", ...rest });
      const lines = (out: string) =>
        out.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as unknown]));
      const messages = [{ role: "user", content: "hello" }] as const;
      for (const [words, input] of [
        [["hello"], ""],
        [[], "hello"],
        [[], JSON.stringify({ messages })],
      ] as const) {
        const { exit, out, err } = await exec([model, ...words], input);
        expect([exit, err, lines(out)]).toEqual([
          0,
          "",
          [frame(1, { type: "delta", text: "answer" }), frame(2, { type: "done", status: "ok" })],
        ]);
      }
      expect(uses.splice(0).map((use) => [use.model, use.messages])).toEqual(
        Array.from({ length: 3 }, () => ["debug/echo", messages]),
      );
      const failed = await exec([model, "fail"], "");
      expect([failed.exit, failed.err, lines(failed.out).length]).toEqual([
        69,
        "ctx: the provider is away [EHOSTDOWN]\n",
        3,
      ]);
      writeFileSync(join(base, "ctx/model/debug/none"), "#!/ctx/bin/ctx exec\n");
      expect(await exec(["/ctx/model/debug/none", "hello"], "")).toEqual({
        ...{ exit: 13, out: "", err: "ctx: no line allows it [EACCES]\n" },
      });
      const alone = await exec([model, "hello"], "", { CTX_CONTROL_SOCKET: "" });
      expect([alone.exit, alone.err]).toEqual([69, expect.stringContaining("CTX_CONTROL_SOCKET")]);
    },
    slowMs,
  );
});

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  return text;
}
