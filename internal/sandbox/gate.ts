// The token gate: the first program inside the sandbox. It says that the sandbox stands, waits for
// the token and only then becomes the payload. End-of-file, which is what a killed launcher leaves
// behind, ends it with 125 and nothing has run. Limits are set here because RLIMIT_NPROC counts by
// user namespace: set outside, it would count everything else the user runs.

/** Processes and threads of one sandbox. Past it fork(2) fails with EAGAIN inside. */
export const sandboxProcessesMax = 256;

/** Open files of one process inside. Past it open(2) fails with EMFILE inside. */
export const sandboxFilesMax = 1024;

/** What the gate writes when it waits. */
export const gateReady = "r";

/** What the gate becomes: its own program, or a shell command that its standard input holds. */
export type GateOpening =
  | { readonly kind: "program" }
  | { readonly kind: "command"; readonly combined: boolean };

/** What a word of the opening line may be made of; the gate splits it at spaces. */
const plainWord = /^[A-Za-z0-9._-]+$/;

/** Stands for what is not told; no name is made of it alone. */
const untold = "-";

/** What a sandbox is told when its gate opens, as it may stand before that is known. */
export interface GateNews {
  /** Becomes CTX_RUN_ID. */
  readonly run?: string | undefined;
  /** Becomes CTX_SESSION; only of a run. */
  readonly session?: string | undefined;
  /** Becomes CTX_STEP; only of a run. */
  readonly step?: number | undefined;
}

/** The line that opens the gate. */
export function gateToken(
  opening: GateOpening = { kind: "program" },
  { run, session, step }: GateNews = {},
): string {
  for (const word of [run, session]) {
    if (word === undefined || plainWord.test(word)) continue;
    throw new TypeError(`${JSON.stringify(word)} is no word that a gate could be told`);
  }
  const streams = opening.kind === "command" && opening.combined ? "joined" : "apart";
  const words = [opening.kind === "program" ? "go" : "cmd", streams];
  const told = [run, session, step === undefined ? undefined : `${step}`];
  const news = run === undefined ? [] : told.map((word) => word ?? untold);
  return `${[...words, ...news].join(" ")}\n`;
}

/**
 * The line before the token that starts the program already. It must be one of ours that does
 * nothing until its own input, on the `warm` descriptor, says what to do; a command replaces it.
 */
export const gateWarm = "warm\n";

/** PATH of a shell command; a shell's built-in default may end in ".". */
export const commandPath = "/usr/local/bin:/usr/bin:/bin";

/** Stands in every gate and so on the command line of every launch of ours. */
export const gateMark = ": cortexfs gate";

/** Exit status of a gate that was never opened. */
export const gateShutStatus = 125;

export interface GateScriptOptions {
  /** The token's socket; one digit, as all descriptors here. */
  readonly descriptor: number;
  /** Standard error goes where standard output goes, so that both keep their order of arrival. */
  readonly combined: boolean;
  /** The input of a program that is started before the token. */
  readonly warm?: number | undefined;
}

/**
 * The script for `/bin/sh -c SCRIPT gate PROGRAM ARG…`. dash calls the process limit -p, bash -u;
 * in bash -p is the pipe size, which cannot be set and fails.
 */
export function gateScript({ descriptor, combined, warm }: GateScriptOptions): string {
  const fd = `${descriptor}`;
  const read = `read -r t a r n s <&${fd} || exit ${gateShutStatus}`;
  return [
    gateMark,
    `echo ${gateReady} >&${fd} || exit ${gateShutStatus}`,
    read,
    `ulimit -p ${sandboxProcessesMax} 2>/dev/null || ulimit -u ${sandboxProcessesMax} || exit 126`,
    // A hard limit that is lower already is kept.
    `ulimit -n ${sandboxFilesMax} 2>/dev/null`,
    "ulimit -c 0",
    "p=",
    ...(warm === undefined ? [] : warmLines(fd, `${warm}`, read)),
    `[ "$t" = go ] || [ "$t" = cmd ] || exit ${gateShutStatus}`,
    '[ -z "$r" ] || export CTX_RUN_ID="$r"',
    `[ "\${n:-${untold}}" = ${untold} ] || export CTX_SESSION="$n"`,
    `[ "\${s:-${untold}}" = ${untold} ] || export CTX_STEP="$s"`,
    `if [ "$t" = cmd ]; then`,
    `[ -n "$p" ] && { kill -9 "$p"; wait "$p"; } 2>/dev/null`,
    // The mark keeps the newlines at the command's end, which a substitution would drop.
    "c=$(/bin/cat; echo .) || exit 126",
    `export PATH=${commandPath}`,
    `exec </dev/null ${fd}<&-`,
    `[ "$a" = joined ] && exec 2>&1`,
    `exec /bin/sh -c "\${c%.}"`,
    "fi",
    `[ -n "$p" ] && { wait "$p"; exit; }`,
    `exec "$@" ${fd}<&-${combined ? " 2>&1" : ""}`,
  ].join("\n");
}

function warmLines(fd: string, warm: string, read: string): string[] {
  return [
    `if [ "$t" = ${gateWarm.trim()} ]; then`,
    `"$@" <&${warm} ${warm}<&- ${fd}<&- &`,
    "p=$!",
    read,
    "fi",
    `exec ${warm}<&-`,
  ];
}
