// Who may ask, with processes in real sandboxes: as root for an agent of another uid, and the whole
// file once more as an ordinary user whose agents have its own uid.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { authorize, own, Stage, update } from "../../testdata/run-socket/stage.ts";
import { plainSpec } from "../../testdata/sandbox/plain-spec.ts";
import { childDescriptors, hostProgram, type RunningSandbox, startSandbox } from "../bwrap/mod.ts";
import { type ProcessStamp, sameProcess } from "../os/mod.ts";
import { bwrapArguments, seccompProgram } from "../sandbox/mod.ts";
import type { RunSocket } from "./mod.ts";

const script = new URL("../../testdata/run-socket/ask.py", import.meta.url).pathname;
const python = "/usr/bin/python3";
const missing =
  hostProgram("bwrap") === undefined || !existsSync(python)
    ? `bubblewrap or ${python} is not installed`
    : undefined;
if (missing !== undefined) console.log(`SKIP peers in sandboxes: ${missing}`);

const isRoot = process.getuid?.() === 0;
const agentUid = isRoot ? 61184 : (process.getuid?.() ?? 0);
const identity = isRoot ? { uid: agentUid, gid: agentUid, groups: [] } : undefined;
/** Sandboxes and Python start slowly on a busy machine. */
const slowMs = 120_000;

const refusal = { request_id: null, ok: false, code: "EACCES", message: expect.any(String) };
const done = (id: string) => ({ request_id: id, ok: true, control: "system.md" });
const lines = (...requests: readonly object[]) =>
  requests.map((request) => `${JSON.stringify(request)}\n`).join("");

describe.skipIf(missing !== undefined)("a peer", () => {
  let base = "";
  let stage: Stage;
  let socket: RunSocket;
  beforeAll(() => {
    base = mkdtempSync("/tmp/ctx-peers-");
    for (const name of ["etc", "ctx", "work"]) mkdirSync(join(base, name));
    copyFileSync(script, join(base, "work/ask.py"));
    writeFileSync(join(base, "work/nest.sh"), nest);
    for (const path of [base, join(base, "work/ask.py")]) chmodSync(path, 0o755);
    stage = new Stage();
    chmodSync(stage.runtime, 0o711);
    socket = stage.open({}, { peerUid: agentUid });
  });
  afterAll(async () => {
    await stage.end();
    rmSync(base, { recursive: true, force: true });
  });

  /** Starts a program in a sandbox that sees a run's socket; its launch root becomes known first. */
  function start(
    program: readonly string[],
    input: string,
    register: (root: ProcessStamp) => void,
    folder = socket.folder,
  ): Promise<RunningSandbox> {
    const spec = plainSpec(base);
    const control = { host: folder, view: "/run/cortexfs", access: "ro" } as const;
    return startSandbox({
      arguments: bwrapArguments({ ...spec, binds: [...spec.binds, control] }, childDescriptors),
      seccomp: seccompProgram(process.arch === "arm64" ? "arm64" : "x64", { network: false }),
      program,
      combined: true,
      stdin: new TextEncoder().encode(input),
      identity,
      signal: new AbortController().signal,
      register,
    });
  }

  const rooted = (root: ProcessStamp) => {
    stage.roots = [...stage.roots, root];
  };
  const asker = (...mode: string[]) => [
    python,
    "/workspace/ask.py",
    "/run/cortexfs/control.sock",
    ...mode,
  ];

  /** What a program in a sandbox is answered, line by line. */
  async function answers(
    program: readonly string[],
    input: string,
    register = rooted,
    folder = socket.folder,
  ): Promise<unknown[]> {
    const sandbox = await start(program, input, register, folder);
    const text = await textOf(sandbox.stdout);
    for await (const _ of sandbox.stderr);
    await sandbox.exited;
    await sandbox.kill(0);
    stage.roots = stage.roots.filter(sameProcess);
    return jsonLines(text);
  }

  const served = () => stage.served.splice(0);

  test(
    "in the sandbox of the run is served: the program, a grandchild, an orphaned daemon",
    async () => {
      const grandchild = ["/bin/sh", "-c", '/bin/sh -c "$0 $1 $2; true"; true', ...asker()];
      for (const [id, program] of [
        ["program", asker()],
        ["grandchild", grandchild],
        ["daemon", asker("--daemon")],
      ] as const) {
        const input = lines(update(id), update(`${id}-token`, { token: "an old one" }));
        expect([id, await answers(program, input)]).toEqual([id, [done(id), done(`${id}-token`)]]);
        expect(served()).toEqual([`agent.update ${id}`, `agent.update ${id}-token`]);
      }
    },
    slowMs,
  );

  test(
    "of the run may update its own agent, session and run alone, within the bounds",
    async () => {
      const wrong = [
        [{ agent: "reviewer" }, "EACCES"],
        [{ session: "other" }, "EACCES"],
        [{ run: "run-2" }, "EACCES"],
        [{ control: "policy" }, "EINVAL"],
        [{ control: "../coder.d/policy" }, "EINVAL"],
        [{ content: "x".repeat(8193) }, "EMSGSIZE"],
        [{ content: "a\0b" }, "EINVAL"],
      ] as const;
      const requests = wrong.flatMap(([change], n) => [
        update(`bad-${n}`, change),
        update(`bad-${n}`),
      ]);
      const expected = wrong.flatMap(([, code], n) =>
        [code, "EALREADY"].map((each) => ({ ...refusal, request_id: `bad-${n}`, code: each })),
      );
      expect(await answers(asker(), lines(...requests))).toEqual(expected);
      expect(served()).toEqual([]);
    },
    slowMs,
  );

  test(
    "outside of the sandbox is refused, also with the agent's uid and an old token",
    async () => {
      const holder = await start(["/bin/sleep", "60"], "", rooted);
      try {
        const input = lines(update("outside", { token: "an old one" }), authorize("outside-2"));
        for (const mode of [[], ["--daemon"], ["--handover"]]) {
          expect([mode, await outside(input, agentUid, mode)]).toEqual([mode, [refusal]]);
        }
        if (isRoot) {
          expect(await outside(input, 0, [])).toEqual([refusal]);
        } else {
          console.log("SKIP a peer with another uid: only root can become one");
        }
      } finally {
        await holder.kill(0);
      }
      expect(served()).toEqual([]);
    },
    slowMs,
  );

  test(
    "whose process has ended is refused, also when its child asks over its connection",
    async () => {
      expect(await answers(asker("--handover"), lines(update("handover")))).toEqual([refusal]);
      expect(served()).toEqual([]);
    },
    slowMs,
  );

  test(
    "in the sandbox of another run is refused, though it sees the socket",
    async () => {
      const holder = await start(["/bin/sleep", "60"], "", rooted);
      const other = stage.open({}, { peerUid: agentUid, session: "other", run: "run-2" });
      try {
        const foreign = () => {};
        const input = lines(update("foreign"));
        expect(await answers(asker(), input, foreign)).toEqual([refusal]);
        expect(await answers(asker("--daemon"), input, foreign)).toEqual([refusal]);
        // The same names over its own socket are refused as well, and its own are not.
        const mine = lines(
          update("named", own),
          update("mine", { session: "other", run: "run-2" }),
        );
        expect(await answers(asker(), mine, rooted, other.folder)).toEqual([
          { ...refusal, request_id: "named" },
          done("mine"),
        ]);
      } finally {
        await holder.kill(0);
        await other.close();
      }
      expect(served()).toEqual(["agent.update mine"]);
    },
    slowMs,
  );

  test(
    "whose launch root is another process by now, or none, is refused",
    async () => {
      const input = lines(update("reused", { token: "an old one" }));
      for (const change of [-1n, 1n]) {
        const reused = ({ pid, startTime }: ProcessStamp) =>
          rooted({ pid, startTime: String(BigInt(startTime) + change) });
        expect(await answers(asker(), input, reused)).toEqual([refusal]);
        stage.roots = [];
      }
      expect(await answers(asker(), input, () => {})).toEqual([refusal]);
      expect(served()).toEqual([]);
    },
    slowMs,
  );

  test(
    "deeper than 64 parents below the root is refused, one less deep is served",
    async () => {
      // The program itself is two below the root: process 1 of the sandbox is between them.
      const nested = (more: number) => [
        ...["/bin/sh", "/workspace/nest.sh", String(more)],
        ...asker(),
      ];
      expect(await answers(nested(50), lines(update("deep")))).toEqual([done("deep")]);
      expect(await answers(nested(70), lines(update("deeper")))).toEqual([refusal]);
      expect(served()).toEqual(["agent.update deep"]);
    },
    slowMs,
  );

  /** What a process that no sandbox holds is answered. */
  async function outside(input: string, uid: number, mode: readonly string[]): Promise<unknown[]> {
    const path = join(socket.folder, "control.sock");
    const child = Bun.spawn([python, join(base, "work/ask.py"), path, ...mode], {
      stdin: new TextEncoder().encode(input),
      stdout: "pipe",
      ...(isRoot ? { uid, gid: uid } : {}),
    });
    const text = await new Response(child.stdout).text();
    await child.exited;
    return jsonLines(text);
  }
});

/** `nest.sh N WORD…` runs the words N shells further down; none of them replaces itself. */
const nest =
  'n=$1; shift; if [ "$n" -gt 0 ]; then /bin/sh "$0" $((n - 1)) "$@"; true; else "$@"; true; fi';

test.skipIf(!isRoot || missing !== undefined)(
  "all of it holds for an ordinary user whose agents have its own uid",
  async () => {
    const child = Bun.spawn(
      [
        ...["setpriv", "--reuid", "61184", "--regid", "61184", "--clear-groups"],
        ...[process.execPath, "test", import.meta.path],
      ],
      { stdout: "ignore", stderr: "pipe", env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent" } },
    );
    const said = await new Response(child.stderr).text();
    expect([await child.exited, said]).toEqual([0, expect.stringMatching(/\n +7 pass\n/)]);
  },
  slowMs * 3,
);

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  return text;
}

function jsonLines(text: string): unknown[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => (line.startsWith("{") ? (JSON.parse(line) as unknown) : line));
}
