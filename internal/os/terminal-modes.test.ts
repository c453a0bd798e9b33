// Against real pseudo-terminals, and stty for another opinion.

import { expect, test } from "bun:test";
import { join } from "node:path";

const script = `
import { closeSync, openSync } from "node:fs";
import * as os from ${JSON.stringify(join(import.meta.dir, "mod.ts"))};
const stty = () => Bun.spawnSync(["stty", "-a"], { stdin: "inherit" }).stdout.toString();
const plain = stty();
const modes = os.terminalModes(0);
os.setTerminalModes(0, os.rawModes(modes));
const raw = stty();
os.setTerminalModes(0, modes, "flushed");
const pipe = openSync("/dev/null", "r");
let refused = "";
try { os.terminalModes(pipe); } catch (error) { refused = error.code; }
closeSync(pipe);
console.log(JSON.stringify({
  size: os.terminalSize(0), same: stty() === plain, refused,
  raw: ["-icanon", "-echo ", "-isig", "-opost", "-icrnl", "-ixon"].every((one) => raw.includes(one)),
  foreground: os.foregroundGroup(0) === process.pid,
}));
`;

test("modes of a terminal are read, made raw and put back as they were", async () => {
  let said = "";
  const child = Bun.spawn([process.execPath, "-e", script], {
    terminal: {
      cols: 91,
      rows: 33,
      data: (_terminal, bytes) => {
        said += new TextDecoder().decode(bytes);
      },
    },
  });
  expect(await child.exited).toBe(0);
  child.terminal?.close();
  expect(JSON.parse(said.trim())).toEqual({
    size: { cols: 91, rows: 33 },
    same: true,
    refused: "ENOTTY",
    raw: true,
    foreground: true,
  });
});
