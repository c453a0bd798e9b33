// Where a key comes from: a prompt that shows nothing, standard input, or a variable of the environment
// that is named once. Never an argument; and no message repeats any of it.

import { coded, fail } from "../../internal/abi/mod.ts";
import { isTerminal, onInterrupt } from "../../internal/cli/mod.ts";
import { askHidden, type HiddenAnswer } from "../../internal/client/mod.ts";
import { type StoredSecret, secretBytesMax } from "../../internal/secret/mod.ts";
import { described } from "./auth-target.ts";
import { readInput } from "./exec-input.ts";

/** A line break at the end, LF or CRLF, is not counted. */
const inputBytesMax = secretBytesMax + 2;

const ways = "type it at the prompt, pipe it in, or name a variable that holds it with --from-env";

/** The value that is to be stored; undefined when the person went away from the prompt. */
export async function obtainValue(
  target: StoredSecret,
  variable: string | undefined,
): Promise<string | undefined> {
  if (variable !== undefined) return checked(target, fromEnvironment(variable));
  if (!isTerminal(0)) return checked(target, fromInput(target));
  const answer = await askPerson(target);
  if (answer.kind === "cancelled") return undefined;
  if (answer.kind === "too_long") return tooLong(target);
  return checked(target, decode(target, answer.bytes));
}

/** The name is not repeated: who takes it for the key itself has typed the key. */
function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (value !== undefined) return value;
  return fail("EINVAL", "the variable that --from-env names is not set", {
    hint: "--from-env takes a variable's name, for example OPENAI_API_KEY, and never a key",
  });
}

function fromInput(target: StoredSecret): string {
  try {
    return readInput(inputBytesMax);
  } catch (error) {
    if (coded(error).code === "EMSGSIZE") tooLong(target);
    throw error;
  }
}

async function askPerson(target: StoredSecret): Promise<HiddenAnswer> {
  const stop = new AbortController();
  const release = onInterrupt(() => stop.abort());
  try {
    return await askHidden({
      prompt: `${described(target)} (not shown, Enter ends it): `,
      bytesMax: inputBytesMax,
      signal: stop.signal,
      marksPastes: process.env["TERM"] !== "dumb",
    });
  } finally {
    release();
  }
}

function decode(target: StoredSecret, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return fail("EINVAL", `the ${described(target)} is not UTF-8 text`);
  }
}

/** Without one line break at its end. What a request's header could not carry is no key. */
function checked(target: StoredSecret, text: string): string {
  const value = text.replace(/\r?\n$/, "");
  const what = `the ${described(target)}`;
  if (value === "") fail("EINVAL", `${what} is empty`, { hint: ways });
  if (Buffer.byteLength(value) > secretBytesMax) tooLong(target);
  if (value.includes("\0")) fail("EINVAL", `${what} holds a NUL byte`);
  if (target.kind === "provider" && /[\u0000-\u001f\u007f]/.test(value)) {
    fail("EINVAL", `${what} holds a line break or another control character`, {
      hint: "look whether more was pasted than the key",
    });
  }
  return value;
}

function tooLong(target: StoredSecret): never {
  return fail("EMSGSIZE", `the ${described(target)} is larger than ${secretBytesMax} bytes`);
}
