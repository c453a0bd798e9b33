// What runs behind the gate. shell.exec is its command itself, so that the output streams as it
// comes; any other tool is a program of the native protocol: one JSON object in, an answer out.

import { fail } from "../abi/mod.ts";
import { encodeToolInput } from "../tool-native/mod.ts";
import type { LaunchRequest } from "./types.ts";

/** One argument of a program (MAX_ARG_STRLEN of the kernel, with its NUL). Past it EMSGSIZE. */
const argumentBytesMax = 128 * 1024 - 1;
/** All arguments together; the kernel's own limit depends on the stack and is above. */
const argumentsBytesMax = 1024 * 1024;

export interface Payload {
  readonly kind: "command" | "native";
  readonly program: readonly string[];
  readonly stdin: Uint8Array | undefined;
  readonly combined: boolean;
  readonly timeoutMs: number;
}

interface CommandArguments {
  readonly cmd: string | readonly string[];
  readonly cwd?: string;
  readonly timeout_ms?: number;
  readonly separate?: boolean;
}

export function payloadOf(request: LaunchRequest): Payload {
  const command = commandOf(request);
  if (command === undefined) {
    const { tool } = request;
    return {
      kind: "native",
      // The runner is named instead of left to the first line: a standby runs it before it knows
      // of which tool.
      program: tool.builtin ? ["/ctx/bin/ctx", "exec", tool.viewPath] : [tool.viewPath],
      stdin: new TextEncoder().encode(encodeToolInput(request.args)),
      combined: false,
      timeoutMs: request.timeoutMs,
    };
  }
  const { cmd } = command;
  const program = typeof cmd === "string" ? ["/bin/sh", "-c", cmd] : cmd;
  checkSize(program);
  return {
    kind: "command",
    program,
    stdin: undefined,
    combined: command.separate !== true,
    timeoutMs: Math.min(command.timeout_ms ?? request.timeoutMs, request.timeoutMs),
  };
}

/** The `cwd` argument of a shell.exec call. */
export function commandFolder(request: Pick<LaunchRequest, "tool" | "args">): string | undefined {
  return commandOf(request)?.cwd;
}

function commandOf({ tool, args }: Pick<LaunchRequest, "tool" | "args">) {
  return tool.builtin && tool.name === "shell.exec" ? (args as CommandArguments) : undefined;
}

/** Throws EINVAL and EMSGSIZE for what execve(2) would not take. */
export function checkSize(program: readonly string[]): void {
  const sizes = program.map((argument) => Buffer.byteLength(argument));
  if (program.some((argument) => argument.includes("\0"))) {
    fail("EINVAL", "the command holds a NUL character");
  }
  if (Math.max(...sizes) > argumentBytesMax) {
    fail("EMSGSIZE", `the command is longer than ${argumentBytesMax} bytes`, {
      hint: "write it to a file and run the file",
    });
  }
  if (sizes.reduce((sum, size) => sum + size, 0) > argumentsBytesMax) {
    fail("EMSGSIZE", `the command's arguments are longer than ${argumentsBytesMax} bytes together`);
  }
}
