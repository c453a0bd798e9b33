// Tools that run another program: shell.exec, and bash, tmux and zellij under their own names. In
// terminal mode the program has this process's streams and its exit status is passed on; in native
// mode its output is captured, bounded and answered as one result.

import { constants } from "node:os";
import { coded, fail, killGraceMs, toolOutputBytesMax } from "../../internal/abi/mod.ts";
import { isTerminal, note, onInterrupt } from "../../internal/cli/mod.ts";
import { answerNative } from "./exec-file-tool.ts";
import { parseJson, readInput, toolInputBytesMax } from "./exec-input.ts";

/** Bash's own default ends in `.`, so the search path is always said. */
const childPath = "/usr/local/bin:/usr/bin:/bin";

interface ShellInput {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly timeoutMs: number | undefined;
  readonly separate: boolean;
}

export async function runProgramTool(name: string, words: readonly string[]): Promise<number> {
  if (name === "bash" || name === "tmux" || name === "zellij") return runNamed(name, words);
  if (name !== "shell.exec") {
    return fail("EHOSTDOWN", `cannot run tool "${name}": only its host can run it`, {
      hint: "let the agent call it",
    });
  }
  if (process.env["CTX_TOOL_MODE"] === "native") {
    return capture(shellInput(parseJson(readInput(toolInputBytesMax))));
  }
  const [first] = words;
  if (first === undefined && isTerminal(0)) {
    note("Usage: shell.exec COMMAND… | '{\"cmd\":…}'");
    return 2;
  }
  if (first === undefined) return inherit(shellInput(parseJson(readInput(toolInputBytesMax))));
  if (words.length === 1 && first.startsWith("{")) return inherit(shellInput(parseJson(first)));
  return inherit(shellInput({ cmd: words.length === 1 ? first : [...words] }));
}

/** Checks the input object of shell.exec. Throws EINVAL. */
function shellInput(value: unknown): ShellInput {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return fail("EINVAL", "shell.exec takes one JSON object");
  }
  const { cmd, cwd, timeout_ms, separate, ...rest } = value as Record<string, unknown>;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) fail("EINVAL", `shell.exec does not know the field "${unknown}"`);
  if (cwd !== undefined && typeof cwd !== "string") fail("EINVAL", `shell.exec: "cwd" is text`);
  if (timeout_ms !== undefined && !(Number.isSafeInteger(timeout_ms) && Number(timeout_ms) > 0)) {
    fail("EINVAL", `shell.exec: "timeout_ms" is a whole number above 0`);
  }
  if (separate !== undefined && typeof separate !== "boolean") {
    fail("EINVAL", `shell.exec: "separate" is true or false`);
  }
  const common = {
    separate: separate ?? false,
    cwd: (cwd as string | undefined) ?? process.cwd(),
    timeoutMs: timeout_ms as number | undefined,
  };
  if (typeof cmd === "string" && cmd !== "") return { argv: ["/bin/sh", "-c", cmd], ...common };
  if (Array.isArray(cmd) && cmd.length > 0 && cmd.every((word) => typeof word === "string")) {
    return { argv: cmd as string[], ...common };
  }
  return fail("EINVAL", `shell.exec needs "cmd": a command line or a list of words`);
}

function environment(): Record<string, string | undefined> {
  return { ...process.env, PATH: childPath, CTX_TOOL_MODE: undefined };
}

/** Status of a program that a signal ended, as shells count it. */
const signalExitBase = 128;

async function inherit(input: ShellInput): Promise<number> {
  const child = start(input, "inherit");
  const stop = () => child.kill("SIGINT");
  const release = onInterrupt(stop);
  const status = await ended(child, input.timeoutMs);
  release();
  return status;
}

function start(input: ShellInput, output: "inherit" | "pipe") {
  try {
    return Bun.spawn([...input.argv], {
      cwd: input.cwd,
      env: environment(),
      stdin: output === "inherit" ? "inherit" : "ignore",
      stdout: output,
      stderr: output,
    });
  } catch (error) {
    const code = (error as { code?: string }).code;
    const subject = JSON.stringify(input.argv[0]);
    if (code === "ENOENT")
      return fail("ENOENT", `cannot run ${subject}: no such program or folder`);
    throw error;
  }
}

async function ended(child: Bun.Subprocess, timeoutMs: number | undefined): Promise<number> {
  let late = false;
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          late = true;
          child.kill("SIGTERM");
          setTimeout(() => child.kill("SIGKILL"), killGraceMs).unref();
        }, timeoutMs);
  await child.exited;
  clearTimeout(timer);
  if (late) fail("ETIMEDOUT", `the command did not end within ${timeoutMs} ms`);
  const signal = child.signalCode === null ? 0 : signalNumber(String(child.signalCode));
  return child.exitCode ?? signalExitBase + signal;
}

function signalNumber(name: string): number {
  return (constants.signals as Readonly<Record<string, number>>)[name] ?? 0;
}

/** Both outputs of a program as one stream, in the order in which they were written. */
const combined = ["/bin/sh", "-c", 'exec "$@" 2>&1', "sh"];

/** The answer has the form that the host gives a call of its own: output, then the exit status. */
async function capture(input: ShellInput): Promise<number> {
  const argv = input.separate ? input.argv : [...combined, ...input.argv];
  const child = start({ ...input, argv }, "pipe");
  const reading = Promise.all([take(child.stdout), take(child.stderr)]);
  const exit = await ended(child, input.timeoutMs);
  const [stdout, stderr] = await reading;
  const text = input.separate ? `[stdout]\n${stdout}[stderr]\n${stderr}` : stdout;
  return answerNative({ status: "ok", content: `${text}[exit ${exit}]\n` });
}

/** A stream as text that ends its last line; past `toolOutputBytesMax` the rest is counted. */
async function take(stream: unknown): Promise<string> {
  const parts: Uint8Array[] = [];
  let kept = 0;
  let dropped = 0;
  for await (const chunk of stream as ReadableStream<Uint8Array>) {
    const part = chunk.subarray(0, toolOutputBytesMax - kept);
    parts.push(part);
    kept += part.length;
    dropped += chunk.length - part.length;
  }
  const text = new TextDecoder().decode(Buffer.concat(parts));
  const whole = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return dropped > 0 ? `${whole}[${dropped} more bytes are not kept]\n` : whole;
}

/** bash, tmux or zellij of the host system, where it is installed. */
async function runNamed(name: string, words: readonly string[]): Promise<number> {
  if (process.env["CTX_TOOL_MODE"] === "native") {
    return programNative(name, () => readInput(toolInputBytesMax));
  }
  const argv = [hostProgram(name), ...words];
  return inherit({ argv, cwd: process.cwd(), timeoutMs: undefined, separate: false });
}

/** One native call; whatever keeps it from being done is an answer too. */
export async function programNative(name: string, input: () => string): Promise<number> {
  try {
    return await capture(programInput(name, hostProgram(name), parseJson(input())));
  } catch (error) {
    const { code, message, hint } = coded(error);
    const tail = hint === undefined ? "" : `\nhint: ${hint}`;
    return answerNative({ status: "error", code, content: `${message} [${code}]${tail}` });
  }
}

function hostProgram(name: string): string {
  const program = childPath
    .split(":")
    .map((folder) => `${folder}/${name}`)
    .find((path) => Bun.which(path) !== null);
  if (program !== undefined) return program;
  return fail("EHOSTDOWN", `cannot run tool "${name}": ${name} is not installed here`, {
    hint: `install ${name} on the host`,
  });
}

/** The input object of bash, tmux or zellij. Throws EINVAL. */
function programInput(name: string, program: string, value: unknown): ShellInput {
  const { args, ...rest } = (value ?? {}) as Record<string, unknown>;
  const words = Array.isArray(args) && args.every((word) => typeof word === "string");
  if (!words) return fail("EINVAL", `${name} needs "args": a list of words`);
  return shellInput({ ...rest, cmd: [program, ...(args as string[])] });
}
