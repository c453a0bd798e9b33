// The frames that answer one `model.use`: each names its request, `done` is the last.

import type { CodedError } from "../abi/mod.ts";
import { encodeCapability, type StreamFrame } from "../capability/mod.ts";
import type { ModelEnd, ModelFrame } from "./types.ts";

export interface ModelAnswerOptions {
  readonly request: string;
  readonly run: string;
  send(line: string): Promise<void> | undefined;
}

export class ModelAnswer {
  readonly #options: ModelAnswerOptions;
  #frames = 0;

  constructor(options: ModelAnswerOptions) {
    this.#options = options;
  }

  get begun(): boolean {
    return this.#frames > 0;
  }

  emit(frame: ModelFrame): Promise<void> | undefined {
    const common = this.#common();
    switch (frame.type) {
      case "message":
        return this.#send({ ...frame, ...common, role: "assistant" });
      default:
        return this.#send({ ...frame, ...common });
    }
  }

  end({ status, code }: ModelEnd): void {
    this.#send({
      type: "done",
      ...this.#common(),
      status,
      ...(code === undefined ? {} : { code }),
    });
  }

  fail({ code, message }: Pick<CodedError, "code" | "message">): void {
    const status = code === "ECANCELED" ? "cancelled" : "error";
    if (status === "error") this.emit({ type: "error", code, message });
    this.end({ status, code });
  }

  #common() {
    const { request, run } = this.#options;
    return { request_id: request, id: `frame-${this.#frames + 1}`, run };
  }

  #send(frame: StreamFrame): Promise<void> | undefined {
    const line = encodeCapability(frame);
    this.#frames += 1;
    return this.#options.send(line);
  }
}
