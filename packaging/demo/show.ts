// Runs commands where a person can watch: each is printed as it would be typed, its output passes
// through as it comes, and what was seen is handed back for the checks at the end.

import { join } from "node:path";
import type { Stage } from "./stage.ts";

/** A command of the demonstration may take this long; a model far away needs its time. */
const commandSecondsMax = 600;

export interface Seen {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
  /** When each piece of either stream came, in milliseconds after the start. */
  readonly pieces: readonly { readonly text: string; readonly ms: number }[];
}

export class Show {
  readonly #stage: Stage;
  readonly #bold: boolean;
  #child: ReturnType<typeof Bun.spawn> | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#bold = process.stdout.isTTY === true && process.env["NO_COLOR"] === undefined;
  }

  /** What happens next, for the person. */
  say(text: string): void {
    process.stdout.write(this.#bold ? `\n\x1b[1m${text}\x1b[0m\n` : `\n${text}\n`);
  }

  command(argv: readonly string[]): void {
    process.stdout.write(`$ ${argv.map(shellWord).join(" ")}\n`);
  }

  /** Prints the command, runs it in the workspace and waits for its end. */
  async run(argv: readonly string[], cwd = this.#stage.workspace): Promise<Seen> {
    this.command(argv);
    const begun = performance.now();
    const pieces: { text: string; ms: number }[] = [];
    const child = Bun.spawn(resolveProgram(argv, this.#stage), {
      cwd,
      env: this.#stage.env,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    this.#child = child;
    const timer = setTimeout(() => child.kill("SIGKILL"), commandSecondsMax * 1000);
    const pass = async (stream: ReadableStream<Uint8Array>, to: NodeJS.WriteStream) => {
      const decoder = new TextDecoder();
      let all = "";
      for await (const bytes of stream) {
        const text = decoder.decode(bytes, { stream: true });
        pieces.push({ text, ms: performance.now() - begun });
        all += text;
        to.write(bytes);
      }
      return all;
    };
    const [out, err] = await Promise.all([
      pass(child.stdout, process.stdout),
      pass(child.stderr, process.stderr),
    ]);
    await child.exited;
    clearTimeout(timer);
    this.#child = undefined;
    return { exit: child.exitCode ?? 128, out, err, pieces };
  }

  /** Stops what is running now, so that leaving does not wait for it. */
  interrupt(): void {
    this.#child?.kill("SIGTERM");
  }
}

/** Bun looks a program up in its own PATH, not in the child's. */
function resolveProgram(argv: readonly string[], stage: Stage): string[] {
  const [name = "", ...rest] = argv;
  return [Bun.which(name, { PATH: stage.env["PATH"] ?? "" }) ?? name, ...rest];
}

function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A path as it is printed: what is below the stage keeps its own name. */
export function below(stage: Stage, ...names: string[]): string {
  return join(stage.base, ...names);
}
