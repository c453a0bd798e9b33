// systemd's programs, by fixed folders and never by PATH, and one bounded call of them.

import { accessSync, constants } from "node:fs";

const folders = ["/usr/bin", "/bin"];

/** A program's output; what comes after is not needed by anybody and ends the call's usefulness. */
const outputCharsMax = 64 * 1024;

export function program(name: string): string | undefined {
  for (const folder of folders) {
    try {
      accessSync(`${folder}/${name}`, constants.X_OK);
      return `${folder}/${name}`;
    } catch {
      // Not here.
    }
  }
  return undefined;
}

export interface Called {
  /** Undefined when it was killed because its time ran out. */
  readonly exit: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export async function call(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  msMax: number,
): Promise<Called> {
  const child = Bun.spawn([...argv], {
    // English and plain, whatever the host's language is.
    env: { PATH: folders.join(":"), LC_ALL: "C", SYSTEMD_COLORS: "0", SYSTEMD_PAGER: "", ...env },
    cwd: "/",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: msMax,
    killSignal: "SIGKILL",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  const exit = child.signalCode === null ? (child.exitCode ?? undefined) : undefined;
  return { exit, stdout: stdout.slice(0, outputCharsMax), stderr: stderr.slice(0, outputCharsMax) };
}
