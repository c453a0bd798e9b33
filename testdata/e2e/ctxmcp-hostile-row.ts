// One script of the hostile server and what `ctxmcp` makes of it.

export interface Row {
  readonly script: string;
  readonly args?: readonly string[];
  /** More options of the command. */
  readonly options?: readonly string[];
  /** Tool and arguments of a call; without it the tools are listed. */
  readonly call?: readonly string[];
  /** The code that it fails with; without one it succeeds, or ends with `exit`. */
  readonly code?: string;
  readonly exit?: number;
  /** Standard error. */
  readonly says?: RegExp;
  /** Standard output, or its beginning. */
  readonly out?: RegExp;
  /** The bound that it runs into, in seconds. */
  readonly seconds?: number;
  /** What it may hold in memory at most, when that is more than usual. */
  readonly MiB?: number;
  /** Only with CTX_LONG=1. */
  readonly long?: boolean;
}
