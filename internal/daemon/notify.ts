// Tells whoever started the server that it is ready, or why it is not: a pipe named by CTXD_READY_FD
// (used by ctx) gets one JSON line, a supervisor named by NOTIFY_SOCKET gets READY=1 (sd_notify(3)).

import { closeSync, writeSync } from "node:fs";
import type { CodedError } from "../abi/mod.ts";
import { sendDatagram } from "../os/mod.ts";

export interface Notifier {
  ready(): void;
  failed(error: CodedError): void;
  stopping(): void;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function createNotifier(env: Environment): Notifier {
  const pipe = /^[0-9]{1,5}$/.test(env["CTXD_READY_FD"] ?? "") ? env["CTXD_READY_FD"] : undefined;
  let fd = pipe === undefined || Number(pipe) < 3 ? undefined : Number(pipe);
  const say = (answer: unknown) => {
    if (fd === undefined) return;
    const open = fd;
    fd = undefined;
    try {
      writeSync(open, `${JSON.stringify(answer)}\n`);
      closeSync(open);
    } catch {
      // Whoever waited has left; the server does not depend on it.
    }
  };
  const supervisor = env["NOTIFY_SOCKET"];
  const notify = (text: string) => {
    if (supervisor === undefined || supervisor === "") return;
    try {
      sendDatagram(supervisor, text);
    } catch {
      // A supervisor that does not listen cannot be told.
    }
  };
  return {
    ready() {
      say({ ok: true, pid: process.pid });
      notify(`READY=1\nMAINPID=${process.pid}\n`);
    },
    failed({ code, message, hint }) {
      say({ ok: false, code, message, hint });
    },
    stopping: () => notify("STOPPING=1\n"),
  };
}
