// From neutral frames to the events of one v1 connection. Every event names the request that the
// connection carries; what v1 has no event for (usage, reasoning, the output of a tool while it runs)
// gives none. A request_conflict travels as EINVAL.

import { type Code, codes } from "../abi/mod.ts";
import type { OpFrame, SessionFrame } from "../interaction/mod.ts";
import { v1Envelope } from "./v1-judge.ts";

/** Request id of an error whose line had no usable one. */
export const v1NoRequest = "0";

export class V1Encoder {
  private readonly requestId: string;
  private readonly session: string;

  /** `session` is what `accepted` names; a request without one is never accepted. */
  constructor(requestId: string | undefined, session: string | undefined) {
    this.requestId = requestId ?? v1NoRequest;
    this.session = session ?? "default";
  }

  /** One line with its LF; "" for a frame that v1 has no event for. */
  encode(frame: SessionFrame): string {
    const event = this.eventOf(frame);
    return event === undefined ? "" : line(event);
  }

  /** The line of an error that no record stands for. */
  error(code: Code, message: string): string {
    return line(this.errorEvent(undefined, code, message));
  }

  private eventOf(frame: SessionFrame): object | undefined {
    const request_id = this.requestId;
    const { session } = this;
    switch (frame.type) {
      case "start":
        return { type: "accepted", request_id, session, run: frame.run };
      case "started": {
        const model = frame.model === undefined ? {} : { model: frame.model };
        return { type: frame.type, request_id, run: frame.run, ...model };
      }
      case "delta":
        return { type: frame.type, request_id, run: frame.run, text: frame.text };
      case "message": {
        const text = frame.content.map((part) => part.text).join("");
        return { type: frame.type, request_id, run: frame.run, role: frame.role, text };
      }
      case "tool_call":
      case "tool_result":
        return this.toolEvent(frame);
      case "approval_request": {
        const command = { type: "request_approval", tool: frame.name, arguments: frame.args };
        return { type: "command", request_id, run: frame.run, command_id: frame.id, command };
      }
      case "status": {
        const { status, phase, step } = frame;
        return { type: frame.type, request_id, session: frame.session, status, phase, step };
      }
      case "error":
        return this.errorEvent(frame.run, frame.code, frame.message);
      case "done": {
        const run = frame.run === undefined ? {} : { run: frame.run };
        return { type: frame.type, request_id, ...run, status: frame.status };
      }
      default:
        return undefined;
    }
  }

  private toolEvent(frame: Extract<OpFrame, { type: "tool_call" | "tool_result" }>): object {
    const { run, id: call_id, name } = frame;
    const state = frame.type === "tool_call" ? "running" : frame.status;
    return { type: "tool", request_id: this.requestId, run, call_id, name, state };
  }

  private errorEvent(run: string | undefined, told: Code, message: string): object {
    const code: Code = told === "request_conflict" ? "EINVAL" : told;
    const { retryable } = codes[code];
    const ofRun = run === undefined ? {} : { run };
    return { type: "error", request_id: this.requestId, ...ofRun, code, message, retryable };
  }
}

function line(event: object): string {
  return `${JSON.stringify(v1Envelope("event", event))}\n`;
}
