// A pane of tmux as a terminal that is none of ours: it reads bytes, and tells what it shows.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface PaneView {
  /** Lines with their colours and looks, as tmux writes them. */
  readonly lines: readonly string[];
  readonly plain: readonly string[];
  /** The cursor, the modes and the margins, as tmux counts them. */
  readonly facts: Readonly<Record<string, string>>;
}

const facts = [
  ...["cursor_x", "cursor_y", "alternate_on", "cursor_flag", "insert_flag", "origin_flag"],
  ...["keypad_flag", "keypad_cursor_flag", "wrap_flag", "scroll_region_upper"],
  ...["scroll_region_lower", "mouse_standard_flag", "mouse_button_flag", "mouse_all_flag"],
  ...["mouse_sgr_flag", "pane_title", "pane_tabs"],
];

/** How long a server may take to show what it was sent. */
const shownMs = 10_000;

export function hasTmux(): boolean {
  return Bun.which("tmux") !== null;
}

/** What a fresh pane of this size shows after it read these bytes. */
export async function viewInTmux(bytes: Uint8Array, cols: number, rows: number): Promise<PaneView> {
  const folder = mkdtempSync(join(tmpdir(), "screen-tmux-"));
  const socket = join(folder, "socket");
  const tmux = (...args: string[]) => {
    const child = Bun.spawnSync(["tmux", "-S", socket, "-f", "/dev/null", ...args], {
      env: {
        PATH: process.env["PATH"] ?? "",
        LANG: "C.UTF-8",
        HOME: folder,
        TERM: "xterm-256color",
      },
    });
    return child.stdout.toString();
  };
  try {
    writeFileSync(join(folder, "bytes"), bytes);
    const program = `stty raw -echo; printf '\\033]2;\\033\\\\'; cat ${folder}/bytes; printf x > ${folder}/done; sleep 100`;
    tmux("set", "-g", "status", "off", ";", "set", "-g", "default-terminal", "tmux-256color");
    tmux(
      ...["new-session", "-d", "-x", String(cols), "-y", String(rows), "exec sh"],
      ...[";", "set", "-g", "status", "off", ";", "respawn-pane", "-k", program],
    );
    const view = () => ({
      lines: tmux("capture-pane", "-e", "-p").split("\n").slice(0, rows),
      plain: tmux("capture-pane", "-p").split("\n").slice(0, rows),
      facts: factsOf(tmux("display-message", "-p", facts.map((name) => `#{${name}}`).join("\t"))),
    });
    return await settled(view, join(folder, "done"));
  } finally {
    tmux("kill-server");
    rmSync(folder, { recursive: true, force: true });
  }
}

function factsOf(line: string): Record<string, string> {
  const values = line.replace(/\n$/, "").split("\t");
  return Object.fromEntries(facts.map((name, i) => [name, values[i] ?? ""]));
}

/** tmux says nowhere that it has read all: everything was written, and two looks are the same. */
async function settled(view: () => PaneView, done: string): Promise<PaneView> {
  const deadline = performance.now() + shownMs;
  while (!(await Bun.file(done).exists())) {
    if (performance.now() > deadline) throw new Error("tmux did not read what it was sent");
    await Bun.sleep(10);
  }
  let before = view();
  for (;;) {
    await Bun.sleep(40);
    const now = view();
    if (Bun.deepEquals(now, before)) return now;
    if (performance.now() > deadline) throw new Error("what tmux shows does not settle");
    before = now;
  }
}
