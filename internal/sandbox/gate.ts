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

/** A last argument that can travel in the token's line: printable, no white space. */
const lateArgument = /^[!-~]+$/;

/**
 * What the gate becomes: `go` its own program; with `argument` as that program's last one; or a shell
 * command, whose text is then what the gate's standard input holds.
 */
export type GateOpening =
  | { readonly kind: "program"; readonly argument?: string }
  | { readonly kind: "command"; readonly combined: boolean };

/** The line that opens the gate. */
export function gateToken(opening: GateOpening = { kind: "program" }): string {
  if (opening.kind === "command") return opening.combined ? "cmd joined\n" : "cmd apart\n";
  const { argument } = opening;
  if (argument === undefined) return "go\n";
  if (!lateArgument.test(argument)) throw new RangeError("the argument does not fit the token");
  return `go ${argument}\n`;
}

export function fitsGateToken(argument: string): boolean {
  return lateArgument.test(argument);
}

/** PATH of a shell command; a shell's built-in default may end in ".". */
export const commandPath = "/usr/local/bin:/usr/bin:/bin";

/** Stands in every gate and so on the command line of every launch of ours. */
export const gateMark = ": cortexfs gate";

/** Exit status of a gate that was never opened. */
export const gateShutStatus = 125;

/**
 * The script for `/bin/sh -c SCRIPT gate PROGRAM ARG…`. dash calls the process limit -p, bash -u;
 * in bash -p is the pipe size, which cannot be set and fails. `combined` sends standard error where
 * standard output goes, so that both keep their order of arrival. `descriptor` must be one digit.
 */
export function gateScript(descriptor: number, combined: boolean): string {
  const fd = `${descriptor}`;
  return [
    gateMark,
    `echo ${gateReady} >&${fd} || exit ${gateShutStatus}`,
    `read -r t a <&${fd} || exit ${gateShutStatus}`,
    `[ "$t" = go ] || [ "$t" = cmd ] || exit ${gateShutStatus}`,
    `ulimit -p ${sandboxProcessesMax} 2>/dev/null || ulimit -u ${sandboxProcessesMax} || exit 126`,
    // A hard limit that is lower already is kept.
    `ulimit -n ${sandboxFilesMax} 2>/dev/null`,
    "ulimit -c 0",
    `if [ "$t" = cmd ]; then`,
    // The mark keeps the newlines at the command's end, which a substitution would drop.
    "c=$(/bin/cat; echo .) || exit 126",
    `export PATH=${commandPath}`,
    `exec </dev/null ${fd}<&-`,
    `[ "$a" = joined ] && exec 2>&1`,
    `exec /bin/sh -c "\${c%.}"`,
    "fi",
    `exec "$@" \${a:+"$a"} ${fd}<&-${combined ? " 2>&1" : ""}`,
  ].join("\n");
}
