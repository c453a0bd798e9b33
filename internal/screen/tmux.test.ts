// A second opinion: what a pane of tmux shows after the recorded bytes, after a snapshot, and after a
// snapshot and the rest. Long form only, as every look starts a server.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createReference } from "../../testdata/terminal/reference.ts";
import { hasTmux, type PaneView, viewInTmux } from "../../testdata/terminal/tmux-pane.ts";
import { createScreen } from "./mod.ts";

const folder = join(import.meta.dirname, "../../testdata/terminal");
const table: Record<string, { cols: number; rows: number; resizes: unknown[] }> = JSON.parse(
  readFileSync(join(folder, "recordings.json"), "utf8"),
);

/**
 * Lines on which tmux 3.3 goes its own way, counted from 0. A snapshot says what our emulator shows, so
 * there a pane shows something else after it than after the bytes themselves.
 */
const tmuxOwn: Readonly<Record<string, readonly number[]>> = {
  // Joins emoji that a zero-width joiner stands between, does not know Unicode 15, and keeps a wide
  // character whose second half is erased.
  widths: [3, 9],
  // Has no forward tabulation (CSI I).
  regions: [13],
  // Has no third and fourth character set and no British one.
  drawing: [9, 10],
};

/** The cells of a capture, which looks alike for what looks alike: without blanks at line ends. */
function cells(view: PaneView, name: string, cols: number, rows: number): string[] {
  const terminal = createReference(cols, rows);
  const lines = view.lines.map((line, y) => `\x1b[${y + 1}H${line}`);
  terminal.write(Buffer.from(`\x1b)0\x1b[?7l${lines.join("")}`));
  const shown = terminal.state().normal.map((line) => line.replace(/(?:\{[^}]*\}| )+$/, ""));
  terminal.close();
  return shown.map((line, y) => (tmuxOwn[name]?.includes(y) ? "" : line.replace(/^\{\}/, "")));
}

const isLong = process.env["CTX_LONG"] === "1";
if (!isLong) console.log("SKIP tmux's opinion of snapshots: needs CTX_LONG=1");
else if (!hasTmux()) console.log("SKIP tmux's opinion of snapshots: tmux is not installed");

for (const [name, { cols, rows, resizes }] of isLong && hasTmux() ? Object.entries(table) : []) {
  // A pane cannot be given another size between two bytes.
  if (resizes.length > 0) continue;
  test(`tmux shows ${name} alike from its bytes and from a snapshot`, async () => {
    const bytes = readFileSync(join(folder, `${name}.vt`));
    const see = async (shown: Uint8Array) => {
      const view = await viewInTmux(shown, cols, rows);
      const { cursor_x, ...facts } = view.facts;
      const isOwn = name in tmuxOwn;
      return {
        cells: cells(view, name, cols, rows),
        facts: isOwn ? facts : { cursor_x, ...facts },
        view,
      };
    };
    const whole = await see(bytes);
    for (const part of [0.33, 0.66, 0.9, 1]) {
      const cut = Math.floor(bytes.length * part);
      const screen = createScreen({ cols, rows });
      screen.push(bytes.subarray(0, cut));
      const snapshot = await screen.snapshot();
      screen.close();
      const { view, ...raw } = await see(bytes.subarray(0, cut));
      const { view: _, ...joined } = await see(snapshot.bytes);
      expect({ cut, ...joined }).toEqual({ cut, ...raw });
      const { view: __, ...end } = await see(Buffer.concat([snapshot.bytes, bytes.subarray(cut)]));
      expect({ cut, ...end }).toEqual({ cut, cells: whole.cells, facts: whole.facts });
      const ours = createReference(cols, rows);
      ours.write(bytes.subarray(0, cut));
      // Its plain text has letters where lines are drawn.
      if (name === "drawing") continue;
      for (const [y, line] of ours.plain().entries()) {
        if (!tmuxOwn[name]?.includes(y))
          expect({ y, line }).toEqual({ y, line: view.plain[y]?.trimEnd() ?? "" });
      }
      ours.close();
    }
  }, 120_000);
}
