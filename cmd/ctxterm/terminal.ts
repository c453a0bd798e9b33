// Runs one terminal: what the command line says, the signals, and the child's status as its own.

import { closeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { coded, fail, quoted } from "../../internal/abi/mod.ts";
import { note, onInterrupt, parseFlags } from "../../internal/cli/mod.ts";
import { guardProcess, openPath } from "../../internal/os/mod.ts";
import {
  type ListenPlace,
  openRecording,
  RecordStream,
  serveTerminal,
  type TerminalOptions,
} from "../../internal/terminal/mod.ts";
import { terminalSizeMax } from "../../internal/terminal-wire/mod.ts";

const flags = {
  listen: "value",
  "listen-fd": "value",
  cols: "value",
  rows: "value",
  record: "value",
} as const;

export async function run(argv: readonly string[]): Promise<number> {
  const { value, words } = parseFlags(argv, flags);
  const place = listenPlace(value);
  const size = { cols: whole(value, "cols", 80), rows: whole(value, "rows", 24) };
  // What runs in the terminal has this very uid, and may write neither the recording nor to the clients.
  guardProcess();
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  process.on("SIGTERM", stop);
  // It is nobody's terminal that hangs up: this one is meant to outlive the one it was started from.
  process.on("SIGHUP", () => {});
  onInterrupt(stop);
  const record = recordSink(value.get("record"));
  const end = await serveTerminal({
    ...{ listen: place, ...size, signal: stopping.signal },
    command: words.length > 0 ? words : [join(dirname(process.execPath), "tsh")],
    ...(record && { record }),
    onDropped: (code, message) => note(`ctxterm: a client was let go: ${message} [${code}]\n`),
  });
  return end.status;
}

function listenPlace(value: ReadonlyMap<string, string>): ListenPlace {
  const path = value.get("listen");
  const fd = value.get("listen-fd");
  if (path !== undefined && fd !== undefined) {
    fail("EINVAL", "--listen and --listen-fd exclude each other");
  }
  if (path !== undefined && path !== "") return { path };
  if (fd === undefined) {
    fail("EINVAL", "a terminal needs a socket to be joined at", { hint: "add --listen SOCKET" });
  }
  if (!/^\d{1,4}$/.test(fd)) fail("EINVAL", `${quoted(fd)} is no descriptor`);
  return { fd: Number(fd) };
}

function whole(value: ReadonlyMap<string, string>, name: string, otherwise: number): number {
  const text = value.get(name);
  if (text === undefined) return otherwise;
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= terminalSizeMax) return number;
  return fail("EINVAL", `--${name} is a number from 1 to ${terminalSizeMax}`);
}

function recordSink(file: string | undefined): TerminalOptions["record"] {
  if (file === undefined) return undefined;
  if (file === "-") return new RecordStream(1);
  try {
    const folder = openPath(dirname(file), "folder");
    const recording = openRecording({ folder, name: basename(file) });
    return {
      push: (draft) => recording.push(draft),
      close: () => recording.close().finally(() => closeSync(folder)),
    };
  } catch (error) {
    const { code, message } = coded(error);
    return fail(code, `cannot record to ${quoted(file)}: ${message}`, { cause: error });
  }
}
