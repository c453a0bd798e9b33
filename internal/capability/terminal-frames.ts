// The lines of a terminal's calls, as types. One connection to a terminal's capability socket becomes
// theirs with `terminal.serve`: from its reply on the host says what is to be run and the terminal's
// shell tells how it goes. Beside them is what a person's shell asks about the session itself.
// Optional members are absent, never null.

/** Offers to run the agent's calls here. A terminal has one that does; the next is refused, `busy`. */
export interface ServeRequest {
  readonly op: "terminal.serve";
  readonly request_id: string;
}

/** What a session can be told about the tools that it has loaded. */
export const loadWords = ["load", "unload", "pin", "unpin", "loads"] as const;

/** Is done when the session's turn comes to it, and recorded like any other of its jobs. */
export interface WordRequest {
  readonly op: "tsh";
  readonly request_id: string;
  /** One of `loadWords`, then names of tools; `loads` has none. */
  readonly args: readonly string[];
}

export interface WordAnswer {
  readonly request_id: string;
  readonly ok: true;
  readonly text: string;
}

/** What a terminal's socket is asked beside the requests of control/v1. */
export type TerminalRequest = ServeRequest | WordRequest;

/** One program to be run. The host sends the next one after the end of this. */
export interface TerminalCall {
  readonly type: "call";
  readonly id: string;
  /** The run that makes the call. */
  readonly run: string;
  /** What is shown of it as its command line; shortened, and for nothing but the eye. */
  readonly line: readonly string[];
  /** A command is shown as it prints; a native tool prints an answer for the host. */
  readonly kind: "command" | "native";
  /** Path and arguments, run as they are and looked up nowhere. */
  readonly program: readonly string[];
  /** All of its standard input; absent means none. */
  readonly stdin?: string;
  /** Both of its streams are one, in the order in which they were written. */
  readonly combined: boolean;
  /** In addition to the shell's own environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** In the view. */
  readonly cwd: string;
  /** Of running, from its `begin`. The host counts the wait before. */
  readonly timeout_ms: number;
}

export type StopWord = "cancelled" | "timeout";

/** Ends the call in whatever phase it is; it is still told its end. */
export interface TerminalCancel {
  readonly type: "cancel";
  readonly id: string;
  readonly reason: StopWord;
}

/** A line for the person who watches. */
export interface TerminalNote {
  readonly type: "note";
  readonly text: string;
}

/** The program is about to be started; what was in the foreground before has ended. */
export interface TerminalBegin {
  readonly type: "begin";
  readonly id: string;
}

export interface TerminalOutput {
  readonly type: "output";
  readonly id: string;
  readonly stream: "stdout" | "stderr";
  /** Bytes in base64 with padding. */
  readonly data: string;
  /** Bytes of this stream that were left out just before these. */
  readonly dropped?: number;
}

/** The last line of a call, also of one that never began. */
export interface TerminalEnd {
  readonly type: "end";
  readonly id: string;
  /** The status of a program that ended by itself; null when it did not or never ran. */
  readonly exit: number | null;
  /** The number of the signal that ended it. */
  readonly signal?: number;
  readonly stopped?: StopWord;
  /** Why it could not be started. */
  readonly message?: string;
}

/** What the host says while a terminal serves. */
export type HostLine = TerminalCall | TerminalCancel | TerminalNote;

/** What the serving shell says. */
export type ShellLine = TerminalBegin | TerminalOutput | TerminalEnd;

export type TerminalCallFrame = TerminalRequest | WordAnswer | HostLine | ShellLine;
