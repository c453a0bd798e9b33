// What is recorded: a program, the keys it gets, and the sizes its terminal takes (columns, rows).

interface Session {
  readonly command: string;
  readonly cols: number;
  readonly rows: number;
  readonly steps: readonly (string | readonly [number, number])[];
}

const shell = "bash --norc -i";

export const sessions: Readonly<Record<string, Session>> = {
  vim: {
    command: "vim code.ts",
    cols: 80,
    rows: 24,
    steps: ["/value1\r", "nnn", "ihello 漢字\x1b", ":split\r", "\x06", "V5j", ":qa!\r"],
  },
  "vim-resize": {
    command: "vim code.ts",
    cols: 70,
    rows: 20,
    steps: ["10j", [90, 30], "\x06", [50, 12], "Go appended\x1b", [80, 24]],
  },
  less: {
    command: "less -N code.ts",
    cols: 80,
    rows: 24,
    steps: [" ", "/漢\r", "n", "b", "50g", "q"],
  },
  man: {
    command: "man -P less less",
    cols: 78,
    rows: 25,
    steps: [" ", " ", "/option\r", "n", "b"],
  },
  htop: { command: "htop -d 5", cols: 100, rows: 30, steps: ["\x1bOQ", "\x1b", "t", "\x1b[B"] },
  top: { command: "top -d 0.4", cols: 80, rows: 24, steps: ["zxc", "1", "q"] },
  tmux: {
    command: "tmux -L demo new-session 'bash --norc'",
    cols: 80,
    rows: 24,
    steps: [
      "ls -l --color\r",
      "\x02%",
      "vim code.ts\r",
      '\x02"',
      "seq 40\r",
      "\x02[",
      "\x02o",
      "\x02z",
    ],
  },
  nano: {
    command: "nano code.ts",
    cols: 80,
    rows: 24,
    steps: ["typed\r", "\x1b[6~", "\x17value\r", "\x0b\x0b", "\x07", "\x18"],
  },
  mc: {
    command: "mc",
    cols: 90,
    rows: 26,
    steps: ["\x1b[B\x1b[B", "\x1bOR", "\x1b[21~", "\x1b[20~", "\x1b[B", "\x1b"],
  },
  bash: {
    command: shell,
    cols: 60,
    rows: 12,
    steps: [
      "ls -l --color=always\r",
      "echo a long line that wraps around the right margin of this terminal and goes on for a while\x01\x05\x1bb\x1bb\x0b",
      "\x15",
      "\x12ls",
      "\r",
      "seq 30\r",
      "printf 'no newline'\r",
    ],
  },
  "alternate-nested": {
    command: shell,
    cols: 80,
    rows: 20,
    steps: [
      "printf 'before\\n'; vim code.ts\r",
      ":!less code.ts\r",
      "  ",
      "q",
      "\r",
      "\x1a",
      "echo between\r",
      "fg\r",
      ":q\r",
    ],
  },
  progress: { command: "bash progress.sh", cols: 60, rows: 10, steps: [] },
  widths: { command: "bash wide.sh", cols: 40, rows: 16, steps: [] },
  colours: { command: "bash colours.sh", cols: 72, rows: 24, steps: [] },
  regions: { command: "bash regions.sh", cols: 50, rows: 14, steps: [] },
  drawing: { command: "bash drawing.sh", cols: 50, rows: 14, steps: [] },
  watch: {
    command: "watch -n 0.3 -c -d 'date +%N; ls -l --color=always'",
    cols: 70,
    rows: 16,
    steps: ["", "", ""],
  },
};
