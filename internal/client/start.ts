// Makes sure that a server answers for these places: asks, and starts `ctxd serve` when nobody does,
// as tmux starts its server. Any number of clients may do so at once; the server's lock picks one
// and the others find it.

import { closeSync, fstatSync, renameSync } from "node:fs";
import { join } from "node:path";
import { CodedError, coded, fail, isCode } from "../abi/mod.ts";
import { openPath } from "../os/mod.ts";
import { ensureRuntimeFolder, type Places, treeRuntime } from "../tree/mod.ts";
import { askControl, parse, serverCandidates, startHint } from "./control.ts";

/** Time from the first attempt until a server must answer. Past it ETIMEDOUT. */
export const serverStartMs = 10_000;

/** Size of the server's log at which a start moves it aside; one older log is kept. */
export const serverLogBytesMax = 4 * 1024 * 1024;

/** Pause before another look at a server that another client starts, in milliseconds. */
const startPollMs = 25;

/** What a server started from here may know of its starter's environment. */
const passedVariables = /^(PATH|HOME|LANG|TZ|XDG_.*|CTX_SOURCE|CTX_[A-Z]+_DIR)$/;

export interface EnsureOptions {
  /** Only ask; EHOSTDOWN when nobody answers. */
  readonly noStart?: boolean;
  /** Path of the ctxd program. */
  readonly ctxdBinary: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** Resolves when a server answers. Throws what the server said when it could not start. */
export async function ensureServer(places: Places, options: EnsureOptions): Promise<void> {
  const deadline = performance.now() + serverStartMs;
  for (;;) {
    if (await isServed(places)) return;
    if (options.noStart) {
      fail("EHOSTDOWN", `no server answers for tree "${places.source}"`, { hint: startHint });
    }
    const failure = await startServer(places, options, deadline);
    if (failure === undefined) continue;
    // Somebody else holds the lock: that server comes up, or goes away and leaves room.
    if (failure.code !== "session_locked" || performance.now() > deadline) throw failure;
    await Bun.sleep(startPollMs);
  }
}

/** True when this user's server answers, or the system's for the same tree. */
async function isServed(places: Places): Promise<boolean> {
  for (const candidate of serverCandidates(places)) {
    try {
      await askControl(candidate, "ping");
      return true;
    } catch (error) {
      const { code } = coded(error);
      if (code === "EHOSTDOWN" || (candidate !== places && code === "EACCES")) continue;
      throw error;
    }
  }
  return false;
}

interface Ready {
  readonly ok: boolean;
  readonly code?: string;
  readonly message?: string;
  readonly hint?: string;
}

/** Undefined once the server said that it is ready; what kept it from starting otherwise. */
async function startServer(
  places: Places,
  options: EnsureOptions,
  deadline: number,
): Promise<CodedError | undefined> {
  const runtime = treeRuntime(places);
  ensureRuntimeFolder(places.runtime, places.mode === "system" ? 0o755 : 0o700);
  ensureRuntimeFolder(runtime, places.mode === "system" ? 0o711 : 0o700);
  const log = openLog(runtime);
  try {
    const child = Bun.spawn([options.ctxdBinary, "serve", "--source", places.source], {
      cwd: "/",
      env: { ...scrubbed(options.env ?? process.env), CTXD_READY_FD: "3" },
      stdio: ["ignore", log, log, "pipe"],
      detached: true,
    });
    child.unref();
    const left = Math.max(deadline - performance.now(), 0);
    const ready = await readReady(child.stdio[3] as unknown as number, left);
    if (ready === "late") {
      child.kill("SIGTERM");
      return new CodedError("ETIMEDOUT", `the server was not ready in ${serverStartMs / 1000} s`, {
        hint: `see ${join(runtime, "ctxd.log")}`,
      });
    }
    return failureOf(ready, options, runtime);
  } catch (error) {
    const { code, message } = coded(error);
    return fail(code, `cannot start "${options.ctxdBinary}": ${message}`, { cause: error });
  } finally {
    closeSync(log);
  }
}

function failureOf(
  ready: Ready | undefined,
  options: EnsureOptions,
  runtime: string,
): CodedError | undefined {
  if (ready?.ok) return undefined;
  const { code, message, hint } = ready ?? {};
  if (code !== undefined && isCode(code) && message !== undefined) {
    return new CodedError(code, message, hint === undefined ? {} : { hint });
  }
  return new CodedError("EHOSTDOWN", `"${options.ctxdBinary}" ended before it was ready`, {
    hint: `see ${join(runtime, "ctxd.log")}`,
  });
}

/** One line of the ready pipe; undefined when it closed without one. Always closes the pipe. */
async function readReady(fd: number, waitMs: number): Promise<Ready | undefined | "late"> {
  const reader = Bun.file(fd).stream().getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), waitMs);
  });
  const decoder = new TextDecoder();
  let text = "";
  try {
    while (!text.includes("\n")) {
      const part = await Promise.race([reader.read(), late]);
      if (part === "late") return "late";
      if (part.done) return undefined;
      text += decoder.decode(part.value, { stream: true });
    }
    return parse(text) as Ready | undefined;
  } finally {
    clearTimeout(timer);
    await reader.cancel();
  }
}

export function scrubbed(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && passedVariables.test(name)) kept[name] = value;
  }
  return kept;
}

/** The server's log, opened for appending; a large one is moved aside first. */
function openLog(runtime: string): number {
  const path = join(runtime, "ctxd.log");
  const fd = openPath(path, "append", 0o600);
  if (fstatSync(fd).size <= serverLogBytesMax) return fd;
  closeSync(fd);
  renameSync(path, `${path}.1`);
  return openPath(path, "append", 0o600);
}
