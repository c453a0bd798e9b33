// Jobs on a real pseudo-terminal: a script with a terminal of its own runs programs as a shell would.

import { expect, test } from "bun:test";
import { join } from "node:path";

const script = `
import * as os from ${JSON.stringify(join(import.meta.dir, "mod.ts"))};
import { openSync, closeSync, readSync, readFileSync } from "node:fs";
os.ignoreSignals(["SIGTTOU", "SIGTTIN", "SIGTSTP", "SIGINT"]);
let wake = () => {};
process.on("SIGCHLD", () => wake());
const said = [];
const run = async (command, options = {}) => {
  const pid = os.spawnJob({ path: "/bin/sh", argv: ["sh", "-c", command], env: { ONLY: "1" },
    streams: [0, 1, 2], group: "own", foreground: 0, ...options });
  for (;;) {
    const state = os.jobState(pid);
    if (state.kind !== "running") {
      if (options.group === undefined) os.setForegroundGroup(0, process.pid);
      if (state.kind === "stopped") os.signalGroup(pid, 9);
      return state;
    }
    await new Promise((resolve) => { wake = resolve; });
  }
};
const [read, write] = os.pipe();
const text = async (command, options) => {
  const state = await run(command, { streams: [0, write, 2], ...options });
  const bytes = new Uint8Array(os.readableBytes(read));
  readSync(read, bytes);
  return [state, new TextDecoder().decode(bytes).trim()];
};
said.push(await run("exit 7"), await run("kill -9 $$"), await run("kill -TSTP $$"));
said.push(await text("[ $(cut -d' ' -f5 /proc/$$/stat) = $(cut -d' ' -f8 /proc/$$/stat) ] && echo foreground"));
said.push(await text("echo $(ls /proc/self/fd | wc -l) $ONLY $(pwd)", { cwd: "/usr" }));
said.push(await text("grep -c 'SigIgn:.*[1-9a-f]......$' /proc/self/status"));
said.push(await text("[ $(cut -d' ' -f6 /proc/$$/stat) = $$ ] && ! true < /dev/tty && echo apart",
  { group: "session", foreground: undefined }));
said.push(os.signalGroup(2 ** 22 - 1, 15));
try { os.spawnJob({ path: "/none", argv: ["x"], env: {}, streams: [0, 1, 2], group: "own" }); }
catch (error) { said.push(error.code); }
const keys = openSync("/proc/self/fd/0", 0o400);
os.setTerminalModes(0, os.typingModes(os.terminalModes(0)));
const got = [];
process.on("SIGIO", () => {
  const one = new Uint8Array(1);
  // Two are taken and the third is left for whoever reads next.
  while (got.length < 2) {
    try { readSync(keys, one); } catch { return; }
    got.push(one[0]);
  }
  const left = new Uint8Array(8);
  said.push(got, readSync(0, left), left[0]);
  console.log("SAID" + JSON.stringify(said));
  process.exit(0);
});
os.signalInput(keys);
console.log("READY");
setInterval(() => {}, 1000);
`;

test("jobs run in groups of their own and are told of, and keys are read one by one", async () => {
  let said = "";
  const decoder = new TextDecoder();
  const child = Bun.spawn([process.execPath, "-e", script], {
    terminal: {
      cols: 200,
      rows: 33,
      data: (terminal, bytes) => {
        const before = said.includes("READY");
        said += decoder.decode(bytes);
        if (!before && said.includes("READY")) terminal.write("\x03\ra");
      },
    },
  });
  expect(await child.exited).toBe(0);
  child.terminal?.close();
  const [, json = "null"] = /SAID(.*)\r\n/.exec(said) ?? [said];
  expect(JSON.parse(json)).toEqual([
    { kind: "exited", status: 7 },
    { kind: "killed", signal: 9 },
    { kind: "stopped", signal: 20 },
    [{ kind: "exited", status: 0 }, "foreground"],
    [{ kind: "exited", status: 0 }, "4 1 /usr"],
    [{ kind: "exited", status: 1 }, "0"],
    [{ kind: "exited", status: 0 }, "apart"],
    false,
    "ENOENT",
    [3, 13],
    1,
    97,
  ]);
});
