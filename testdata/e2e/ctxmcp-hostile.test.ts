// `ctxmcp` against every script of the hostile server: what it says and with which status, that it says
// so within the named bound, that it stays small, and that nothing of the server outlives it.

import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  hostileScripts,
  hostileServer,
  python,
  type Watched,
  watch,
} from "../../internal/testkit/mod.ts";
import { callRows } from "./ctxmcp-hostile-calls.ts";
import { lifeRows, listRows } from "./ctxmcp-hostile-lists.ts";
import { resultRows } from "./ctxmcp-hostile-results.ts";
import type { Row } from "./ctxmcp-hostile-row.ts";
import { dist } from "./world.ts";

const ctxmcp = join(dist, "ctxmcp");
const long = process.env["CTX_LONG"] === "1";

/** So many at a time: most of them wait for a server. */
const parallel = 4;

/** A machine on which everything runs at once is slow; what hangs takes longer than this as well. */
const slackSeconds = 25;

/** With nothing but the list of a decent server `ctxmcp` takes about 60. */
const usualMiB = 100;

const exits: Readonly<Record<string, number>> = {
  ...{ EINVAL: 2, EMSGSIZE: 2, EACCES: 13, ENOENT: 1, EIO: 70 },
  ...{ EHOSTDOWN: 69, ETIMEDOUT: 69, slow_consumer: 69, ECANCELED: 130 },
};

setDefaultTimeout(120_000);
const folder = mkdtempSync(join(tmpdir(), "ctxmcp-hostile-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function drive(row: Row): Promise<Watched> {
  const mark = `hostile-${randomUUID()}`;
  const [command, ...args] = hostileServer(row.script, row.args);
  const config = join(folder, `${mark}.json`);
  const server = { command, args, env: { HOSTILE_MARK: mark, PATH: "/usr/bin:/bin" } };
  writeFileSync(config, JSON.stringify({ mcpServers: { h: server } }));
  const named = ["--config", config, "--server", "h", ...(row.options ?? [])];
  const asked = row.call === undefined ? ["list", ...named] : ["call", ...named, ...row.call];
  return await watch([ctxmcp, ...asked], {
    ...{ env: { PATH: "/usr/bin:/bin", HOME: folder }, cwd: folder, mark },
    seconds: (row.seconds ?? 0) + slackSeconds + 10,
  });
}

function title({ script, args = [], call }: Row): string {
  return `${call === undefined ? "list" : "call"}: ${[script, ...args].join(" ")}`;
}

function expectRow(row: Row, done: Watched): void {
  const { exit, late, left, stdout, stderr, seconds, peakMiB } = done;
  const code = /\[(\w+)\]\s*(?:\n|$)/.exec(stderr)?.[1];
  expect({ late, left, code, exit, stderr: stderr.slice(0, 600) }).toEqual({
    late: false,
    left: [],
    code: row.code,
    exit: row.code === undefined ? (row.exit ?? 0) : (exits[row.code] ?? -1),
    stderr: expect.stringMatching(row.says ?? (row.code === undefined ? /^/ : /./)),
  });
  if (row.out !== undefined) expect(stdout.slice(0, 10_000)).toMatch(row.out);
  // What a server says never steers the terminal of whoever reads it.
  expect(stderr).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]/);
  expect(seconds).toBeLessThan((row.seconds ?? 0) + slackSeconds);
  expect(peakMiB).toBeLessThan(row.MiB ?? usualMiB);
}

const allRows = [...listRows, ...lifeRows, ...callRows, ...resultRows];
const rows = allRows.filter((row) => long || row.long !== true);
const missing = python === undefined ? "/usr/bin/python3" : existsSync(ctxmcp) ? undefined : ctxmcp;
if (missing !== undefined) console.log(`SKIP ctxmcp and hostile servers: there is no ${missing}`);
const here = test.skipIf(missing !== undefined);

// They run beside each other from the start, and each test waits for its own.
const results = new Map<Row, PromiseWithResolvers<Watched>>();
for (const row of rows) results.set(row, Promise.withResolvers<Watched>());
const waiting = missing === undefined ? [...rows] : [];
async function work(): Promise<void> {
  for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
    const result = results.get(row);
    await drive(row).then(result?.resolve, result?.reject);
  }
}
for (let worker = 0; worker < parallel; worker++) void work();

here("every script has its outcome", () => {
  const told = new Set(allRows.map((row) => row.script));
  // These are for the runtime, which starts a server once for many calls.
  const elsewhere = ["exit-once", "late-reply", "slow", "progress-then-answer", "surroundings"];
  expect([...told].filter((script) => elsewhere.includes(script))).toEqual([]);
  expect([...told, ...elsewhere].sort()).toEqual(hostileScripts().sort());
});

for (const row of rows) {
  here(title(row), async () => {
    expectRow(row, (await results.get(row)?.promise) as Watched);
  });
}
