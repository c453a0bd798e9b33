// Makes the recordings beside this file: real programs in a real pseudo-terminal, driven by keys.
//
//     bun testdata/terminal/record.ts [NAME…]
//
// It needs root for the namespaces that keep this machine's name and processes out of them, and
// vim less htop top tmux nano mc man bash and watch. What a program draws depends on its version; the
// recordings are kept so that nothing but this script does.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createScreen } from "../../internal/screen/mod.ts";
import { sessions } from "./sessions.ts";

const here = import.meta.dirname;
const home = "/tmp/demo";
/** A program has drawn what it wanted to when it was silent for so long. */
const silenceMs = 350;

interface Made {
  cols: number;
  rows: number;
  resizes: { at: number; cols: number; rows: number }[];
}

const table = join(here, "recordings.json");
const made: Record<string, Made> = JSON.parse(readFileSync(table, "utf8"));
const wanted = process.argv.slice(2);
for (const [name, session] of Object.entries(sessions)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const { bytes, resizes } = await record(
    session.command,
    session.steps,
    session.cols,
    session.rows,
  );
  writeFileSync(join(here, `${name}.vt`), bytes);
  made[name] = { cols: session.cols, rows: session.rows, resizes };
  console.log(`${name}: ${bytes.length} bytes`);
}
writeFileSync(table, `${JSON.stringify(made, undefined, 2)}\n`);

async function record(
  command: string,
  steps: readonly (string | readonly [number, number])[],
  cols: number,
  rows: number,
): Promise<{ bytes: Buffer; resizes: Made["resizes"] }> {
  prepare();
  const parts: Uint8Array[] = [];
  const resizes: Made["resizes"] = [];
  let size = 0;
  let heardAt = performance.now();
  // Programs ask their terminal what it is; a real one answers.
  const screen = createScreen({ cols, rows, answer: (bytes) => child.terminal?.write(bytes) });
  screen.answering = true;
  const inside = `hostname demo; cd ${home}; exec setpriv --reuid nobody --regid nogroup --clear-groups ${command}`;
  const child = Bun.spawn(["unshare", "-pfu", "--mount-proc", "sh", "-c", inside], {
    env: {
      PATH: "/usr/bin:/bin",
      HOME: home,
      USER: "nobody",
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
      PS1: "$ ",
      HISTFILE: "/dev/null",
    },
    terminal: {
      cols,
      rows,
      data: (_, bytes) => {
        const copy = new Uint8Array(bytes);
        parts.push(copy);
        screen.push(copy);
        size += copy.length;
        heardAt = performance.now();
      },
    },
  });
  const settle = async () => {
    heardAt = performance.now();
    while (performance.now() - heardAt < silenceMs && child.exitCode === null) await Bun.sleep(20);
  };
  await settle();
  for (const step of steps) {
    if (typeof step === "string") child.terminal?.write(step);
    else {
      resizes.push({ at: size, cols: step[0], rows: step[1] });
      child.terminal?.resize(step[0], step[1]);
      screen.resize(step[0], step[1]);
    }
    await settle();
  }
  child.kill("SIGKILL");
  await child.exited;
  screen.close();
  return { bytes: Buffer.concat(parts), resizes };
}

/** The folder that programs show, the same every time. */
function prepare(): void {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(join(home, "notes"), { recursive: true });
  const code = Array.from(
    { length: 60 },
    (_, i) =>
      `export const value${i} = { name: "${["α", "β", "漢", "字", "😀"][i % 5]} ${i}", at: ${i * 37} };`,
  );
  writeFileSync(join(home, "code.ts"), `// A file to look at.\n${code.join("\n")}\n`);
  writeFileSync(join(home, "notes", "one.txt"), "one\ntwo\nthree\n");
  writeFileSync(
    join(home, ".vimrc"),
    "set nocompatible number hlsearch incsearch mouse=a laststatus=2 title\nsyntax on\nset termguicolors background=dark\n",
  );
  writeFileSync(
    join(home, ".tmux.conf"),
    "set -g mouse on\nset -g default-shell /bin/bash\nset -g status-right ''\n",
  );
  cpSync(join(here, "programs"), home, { recursive: true });
  Bun.spawnSync(["chown", "-R", "nobody:nogroup", home]);
}
