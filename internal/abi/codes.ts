// The closed table of error codes. Clients branch on the code, never on the message, so a code is
// never renamed and never reused. `exit` is the status of a command that fails with it; `retryable`
// says that the same request may succeed later without anybody changing it. `abi/errors.json`
// mirrors the table and a test keeps the two equal.

interface CodeFacts {
  readonly exit: ExitStatus;
  readonly retryable: boolean;
  readonly meaning: string;
}

/** Every exit status a program of this project may end with on its own account. */
export type ExitStatus = 0 | 1 | 2 | 13 | 69 | 70 | 130;

/** What each exit status means, mirrored in `abi/exit-codes.json`. */
export const exitMeanings: Readonly<Record<ExitStatus, string>> = {
  0: "success",
  1: "general failure, or a run that ended with error or interrupted",
  2: "bad arguments or bad input",
  13: "a layer of authority refused",
  69: "a service is unavailable, busy or too slow; the same request may succeed later",
  70: "an internal failure: damaged files, input or output errors, or a bug",
  130: "cancelled",
};

const table = {
  EINVAL: { exit: 2, retryable: false, meaning: "an argument, control or frame is malformed" },
  EMSGSIZE: { exit: 2, retryable: false, meaning: "a line, input or prompt exceeds its bound" },
  EACCES: { exit: 13, retryable: false, meaning: "a layer of authority refused" },
  ENOENT: { exit: 1, retryable: false, meaning: "the named object does not exist" },
  EEXIST: { exit: 1, retryable: false, meaning: "the named object exists already" },
  EIO: { exit: 70, retryable: false, meaning: "a file or log is damaged or could not be written" },
  EALREADY: { exit: 1, retryable: false, meaning: "the request id was consumed before" },
  EHOSTDOWN: { exit: 69, retryable: true, meaning: "the service behind a socket does not answer" },
  EROFS: { exit: 1, retryable: false, meaning: "the place is read-only" },
  ENOTEMPTY: { exit: 1, retryable: false, meaning: "the folder is not empty" },
  ENOSPC: { exit: 70, retryable: true, meaning: "no space is left where it must be written" },
  ETIMEDOUT: { exit: 69, retryable: true, meaning: "the time allowed for it ran out" },
  ECANCELED: { exit: 130, retryable: false, meaning: "somebody cancelled it" },
  request_conflict: { exit: 2, retryable: false, meaning: "the id was used with another payload" },
  busy: { exit: 69, retryable: true, meaning: "a queue is full; nothing was claimed" },
  slow_consumer: { exit: 69, retryable: true, meaning: "the peer did not read fast enough" },
  session_locked: { exit: 69, retryable: true, meaning: "another process owns the session" },
  unsupported_version: { exit: 2, retryable: false, meaning: "no offered version is spoken here" },
  cursor_invalid: { exit: 2, retryable: false, meaning: "the cursor lies past the head" },
  interrupted: { exit: 1, retryable: false, meaning: "the run was cut by a stop of its host" },
} as const satisfies Record<string, CodeFacts>;

export type Code = keyof typeof table;

export const codes: Readonly<Record<Code, CodeFacts>> = table;

export function isCode(text: string): text is Code {
  return Object.hasOwn(table, text);
}
