// The one place where a program starts, reports and ends. `--version` and top-level `--help` are
// answered here, before the program's own code is even loaded.

import { abiVersions, productCommit, productVersion } from "../abi/mod.ts";
import { printJson, printRaw, writeBytes } from "./output.ts";
import { reportError } from "./report.ts";

export interface Program {
  /** Gets the arguments after the program's name; its answer is the exit status. */
  run(argv: readonly string[]): Promise<number> | number;
}

/** Exit status after an interrupt from the keyboard, as shells expect it (128 + SIGINT). */
const interruptedExit = 130;

const interruptHandlers: (() => void)[] = [];

/**
 * Puts a handler for Ctrl-C on top of the default one, which ends the program with 130. Call the
 * returned function to take it away again.
 */
export function onInterrupt(handler: () => void): () => void {
  interruptHandlers.push(handler);
  return () => {
    const index = interruptHandlers.lastIndexOf(handler);
    if (index >= 0) interruptHandlers.splice(index, 1);
  };
}

export function versionLine(program: string): string {
  return `${program} ${productVersion} (${productCommit}) ${abiVersions.join(" ")}`;
}

/** Runs a program to its end; never returns. `help` is the text of its top-level `--help`. */
export async function runMain(
  program: string,
  load: () => Promise<Program>,
  help: string,
): Promise<never> {
  process.on("SIGINT", () => {
    const handler = interruptHandlers.at(-1);
    if (handler) handler();
    else process.exit(interruptedExit);
  });
  const finish = (thrown: unknown): never => {
    const report = reportError(program, thrown, process.env["CTX_DEBUG"] === "1");
    writeBytes(2, new TextEncoder().encode(report.text));
    process.exit(report.exit);
  };
  process.on("uncaughtException", finish);
  process.on("unhandledRejection", finish);
  try {
    const argv = process.argv.slice(2);
    if (answerFacts(program, argv, help)) process.exit(0);
    const { run } = await load();
    process.exit(await run(argv));
  } catch (thrown) {
    return finish(thrown);
  }
}

/** Answers `--version` and `--help` when they come first. */
function answerFacts(program: string, argv: readonly string[], help: string): boolean {
  const [first, second] = argv;
  if (first === "--version" || first === "-V") {
    if (second !== "--json") printRaw(`${versionLine(program)}\n`);
    else {
      printJson({ program, version: productVersion, commit: productCommit, abi: abiVersions });
    }
    return true;
  }
  if (first !== "--help" && first !== "-h") return false;
  printRaw(help);
  return true;
}
