// `ctx abi verify`: judges a file or standard input line by line, as a server would judge it. Prints
// as it reads and keeps one line at most, so that it can watch a stream that never ends.

import { close, open, read } from "node:fs";
import { promisify } from "node:util";
import { fail } from "../../internal/abi/mod.ts";
import { escapeLine, printRaw, safeJson, unreadable } from "../../internal/cli/mod.ts";
import {
  type JudgedLine,
  LineJudge,
  type Protocol,
  protocolNamed,
  protocols,
  recognise,
} from "../../internal/conformance/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";

export const spec: CommandSpec = {
  name: "abi verify",
  words: "[file]",
  summary: "Judges frames line by line: ok, or the code and the path that is wrong.",
  positionals: { file: "A file of lines; - or nothing is standard input" },
  options: {
    abi: {
      type: "string",
      describe: "Protocol: op, v1, v2, sdk-envelope, control, tool-native; else guessed",
    },
  },
  examples: [
    ["abi verify frames.jsonl", "one line of verdict a line, exit status 2 when one is wrong"],
    ["abi verify --abi v2 --json < frames.jsonl", "the same as JSON"],
  ],
};

const chunkBytes = 64 * 1024;

/** Pause between two looks at an empty pipe that somebody made non-blocking, in milliseconds. */
const emptyPipePauseMs = 5;

const standardInput = 0;

/** 0 when every line is right, 2 otherwise. */
export async function run(args: Arguments): Promise<number> {
  const named = args.text("abi");
  const verifier = new Verifier(
    named === undefined ? undefined : protocolNamed(named),
    args.flag("json"),
  );
  const file = args.text("file") ?? "-";
  for await (const chunk of chunksOf(file)) verifier.push(chunk);
  return verifier.end(file);
}

/** Carries the protocol, which the first line decides when nobody said it. */
class Verifier {
  private protocol: Protocol | undefined;
  private readonly json: boolean;
  private readonly judge: LineJudge;
  private lines = 0;
  private refused = 0;

  constructor(protocol: Protocol | undefined, json: boolean) {
    this.protocol = protocol;
    this.json = json;
    // Each judge holds its own bound as well, so a guess may start with the largest.
    const bounds = protocol === undefined ? protocols : [protocol];
    this.judge = new LineJudge(Math.max(...bounds.map((one) => one.lineBytesMax)), (line) => {
      this.protocol ??= recognise(line);
      return (this.protocol ?? unknown()).judge(line);
    });
  }

  push(chunk: Uint8Array): void {
    this.print(this.judge.push(chunk));
  }

  end(file: string): number {
    this.print(this.judge.end());
    if (this.lines === 0) {
      const from = file === "-" ? "standard input" : JSON.stringify(file);
      fail("EINVAL", `${from} holds no line to verify`);
    }
    return this.refused === 0 ? 0 : 2;
  }

  private print(judged: readonly JudgedLine[]): void {
    if (judged.length === 0) return;
    // Framing alone may refuse the first line, and says nothing about whose line it is.
    if (this.protocol === undefined) unknown();
    this.lines += judged.length;
    this.refused += judged.filter(({ judgement }) => !judgement.ok).length;
    const line = this.json ? (one: JudgedLine) => jsonLine(this.protocol, one) : textLine;
    printRaw(judged.map((one) => `${line(one)}\n`).join(""));
  }
}

function unknown(): never {
  return fail("EINVAL", "cannot tell from the first line which protocol it is of", {
    hint: `say --abi ${protocols.map(({ short }) => short).join("|")}`,
  });
}

function textLine({ number, judgement }: JudgedLine): string {
  if (judgement.ok) return `${number}: ok  ${escapeLine(judgement.kind)}`;
  const { code, path, message } = judgement;
  return escapeLine(`${number}: ${code} ${path === "" ? "" : `${path} `}${message}`);
}

function jsonLine(protocol: Protocol | undefined, { number, judgement }: JudgedLine): string {
  return safeJson({ line: number, abi: protocol?.name, ...judgement });
}

const openFile = promisify(open);
const readFile = promisify(read);

/** Asynchronous, so that Ctrl-C ends a wait for a line that never comes. */
async function* chunksOf(file: string): AsyncGenerator<Uint8Array> {
  const name = file === "-" ? "/dev/stdin" : file;
  let fd = standardInput;
  try {
    if (file !== "-") fd = await openFile(file, "r");
    const buffer = new Uint8Array(chunkBytes);
    for (;;) {
      const count = await readSome(fd, buffer);
      if (count === 0) return;
      yield buffer.subarray(0, count);
    }
  } catch (error) {
    unreadable("read", name, error);
  } finally {
    if (fd !== standardInput) close(fd);
  }
}

async function readSome(fd: number, buffer: Uint8Array): Promise<number> {
  for (;;) {
    try {
      return (await readFile(fd, buffer, 0, buffer.length, null)).bytesRead;
    } catch (error) {
      if ((error as { code?: string }).code !== "EAGAIN") throw error;
      await new Promise((resolve) => setTimeout(resolve, emptyPipePauseMs));
    }
  }
}
