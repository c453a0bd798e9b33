// Reads what one step prints. Bytes in, frames out as they come, and at the end one outcome: the
// call that the step yielded, its message, or an error. A call is handed out only at the end, since
// anything after it makes the whole step invalid. After the first failure nothing comes out any more.

import { type Code, quoted } from "../abi/mod.ts";
import { LineDecoder } from "../frame/mod.ts";
import { envelopeLineBytesMax, stepOutputBytesMax } from "./bounds.ts";
import { decodeStepFrame } from "./codec.ts";
import type { CallFrame, SpokenFrame, StepFrame } from "./frames.ts";
import type { RunCalls } from "./run-calls.ts";

export interface StepFailure {
  readonly code: Code;
  readonly message: string;
}

export type StepOutcome =
  | { readonly kind: "call"; readonly call: CallFrame; readonly text: string }
  | { readonly kind: "message"; readonly text: string }
  | { readonly kind: "error"; readonly code: Code; readonly message: string };

/** How the process went: its exit status, or undefined when a signal ended it. */
export interface StepExit {
  readonly status: number | undefined;
}

export class StepReader {
  readonly #calls: RunCalls;
  readonly #lines = new LineDecoder(envelopeLineBytesMax);
  #bytes = 0;
  #call: CallFrame | undefined;
  #messages: string[] = [];
  #failure: StepFailure | undefined;

  constructor(calls: RunCalls) {
    this.#calls = calls;
  }

  /** Set once the output is invalid: whoever runs the step ends it. */
  get failure(): StepFailure | undefined {
    return this.#failure;
  }

  /** The frames that `chunk` completes, in order, without the call. */
  push(chunk: Uint8Array): SpokenFrame[] {
    if (this.#failure !== undefined) return [];
    const room = stepOutputBytesMax - this.#bytes;
    this.#bytes += chunk.length;
    const spoken: SpokenFrame[] = [];
    for (const line of this.#lines.push(chunk.subarray(0, room))) {
      const frame = line.ok ? this.#frame(line.line) : this.#fail(line.code, line.reason);
      if (frame === undefined) return spoken;
      if (frame.type !== "tool_call") spoken.push(frame);
    }
    if (chunk.length > room) {
      this.#fail("EMSGSIZE", `step printed more than ${stepOutputBytesMax} bytes`);
    }
    return spoken;
  }

  /** The process is gone and its output read. What it printed decides first, then how it went. */
  end(exit: StepExit = { status: 0 }): StepOutcome {
    for (const line of this.#failure === undefined ? this.#lines.end() : []) {
      if (!line.ok) this.#fail(line.code, line.reason);
    }
    const text = this.#messages.join("\n");
    if (this.#failure === undefined && exit.status !== 0) {
      const how = exit.status === undefined ? "was ended by a signal" : `exited ${exit.status}`;
      this.#fail("EIO", `step ${how}`);
    }
    if (this.#failure !== undefined) return { kind: "error", ...this.#failure };
    if (this.#call !== undefined) return { kind: "call", call: this.#call, text };
    if (this.#messages.length > 0) return { kind: "message", text };
    const message = "step ended with neither a tool call nor a message";
    return { kind: "error", code: "EINVAL", message };
  }

  #frame(line: string): StepFrame | undefined {
    if (this.#call !== undefined) {
      return this.#fail("EINVAL", `step printed a line after its tool call "${this.#call.id}"`);
    }
    const decoded = decodeStepFrame(line);
    if (!decoded.ok) {
      // A stray print is known by its text; of a frame the message names the place.
      const stray = line.startsWith("{") ? "" : `: ${quoted(line)}`;
      return this.#fail(decoded.code, `${decoded.message}${stray}`);
    }
    const { frame } = decoded;
    if (frame.run !== undefined && frame.run !== this.#calls.run) {
      return this.#fail("EINVAL", `frame "${frame.type}" names another run`);
    }
    if (frame.type === "tool_call") {
      const refused = this.#calls.admit(frame.id);
      if (refused !== undefined) return this.#fail(refused.code, refused.message);
      this.#call = frame;
    }
    if (frame.type === "message") {
      this.#messages.push(frame.content.map((part) => part.text).join(""));
    }
    return frame;
  }

  #fail(code: Code, message: string): undefined {
    this.#failure ??= { code, message };
    return undefined;
  }
}
