// The whole calls of abi/tool-native/v1/talk in real sandboxes: a tool that reads what the talk says,
// prints and ends as the talk says, and the answer that the launcher gives back.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { abiFolder } from "../../testdata/abi/folder.ts";
import { systemAgentUid } from "../../testdata/sandbox/configurations.ts";
import {
  commandRequest,
  launcherOf,
  makeScene,
  type Scene,
  toolOf,
} from "../../testdata/sandbox/scene.ts";
import type { Launcher } from "./types.ts";

const folder = join(abiFolder, "tool-native/v1/talk");

interface Talk {
  readonly name: string;
  readonly about: string;
  readonly stdin: object;
  readonly stdout?: string;
  readonly stdout_bytes?: string;
  readonly stderr?: string;
  readonly exit: number;
  readonly outcome: object;
}

/** The steps of a talk have different names, so that together they are one value. */
function readTalk(file: string): Talk {
  const lines = readFileSync(join(folder, file), "utf8").trimEnd().split("\n");
  const fields = lines.map((line) => JSON.parse(line) as object);
  return Object.assign({ name: file.replace(/\.jsonl$/, "") }, ...fields) as Talk;
}

const talks = readdirSync(folder).sort().map(readTalk);

/** Bytes as `printf` of any shell takes them. */
const octal = (bytes: Uint8Array) =>
  [...bytes].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");

function programOf({ stdin, stdout = "", stdout_bytes, stderr = "", exit }: Talk): string {
  const text = new TextEncoder();
  const printed =
    stdout_bytes === undefined ? text.encode(stdout) : Uint8Array.fromBase64(stdout_bytes);
  return `#!/bin/sh
[ "$CTX_TOOL_MODE" = native ] || exit 98
[ "$(od -An -v -to1 | tr -d ' \\n')" = '${octal(text.encode(`${JSON.stringify(stdin)}\n`)).replaceAll("\\", "")}' ] || exit 99
printf '${octal(printed)}'
printf '${octal(text.encode(stderr))}' >&2
exit ${exit}
`;
}

let scene: Scene;
let launcher: Launcher;

beforeAll(() => {
  const uid = process.getuid?.() ?? 0;
  scene = makeScene({ agentUid: uid === 0 ? systemAgentUid : uid, serverUid: uid });
  launcher = launcherOf(scene);
});
afterAll(async () => {
  await launcher.close();
  rmSync(scene.base, { recursive: true, force: true });
});

describe("a native tool in its sandbox", () => {
  test("has talks to play", () => {
    expect(talks.length).toBeGreaterThanOrEqual(22);
  });

  for (const talk of talks) {
    test(`${talk.name}: ${talk.about}`, async () => {
      const tool = { ...toolOf(scene, talk.name), builtin: false };
      writeFileSync(tool.hostPath, programOf(talk));
      chmodSync(tool.hostPath, 0o755);
      const request = commandRequest(scene, { cmd: "" }, { tool, visible: [tool] });
      const { status, code, output, exit } = await launcher.run(
        { ...request, args: talk.stdin },
        { signal: new AbortController().signal, onOutput: () => {} },
      );
      const outcome = { status, output, ...(code === undefined ? {} : { code }) };
      expect({ outcome, exit }).toEqual({ outcome: talk.outcome as never, exit: talk.exit });
    });
  }
});
