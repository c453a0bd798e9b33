// For tests of this folder: one question to a client of the model server, and all that came back.

import { CodedError } from "../abi/mod.ts";
import { type OpenaiOptions, openaiClient } from "./openai.ts";
import type { ModelClient, ModelEvent, ModelTool } from "./types.ts";

export const testKey = "sk-test-0123456789abcdef";

export const readTool: ModelTool = {
  name: "fs.read",
  description: "Read a file",
  schema: {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: { path: { type: "string", description: "where" } },
    required: ["path"],
    additionalProperties: false,
  },
};

export interface Asked {
  readonly events: ModelEvent[];
  readonly error: CodedError | undefined;
}

export class Asking {
  readonly #baseUrl: string;

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  client(change: Partial<OpenaiOptions> = {}): ModelClient {
    return openaiClient({
      name: "test/model",
      provider: "test",
      model: "test-model",
      baseUrl: this.#baseUrl,
      key: testKey,
      limit: undefined,
      effort: undefined,
      backoffMs: 1,
      ...change,
    });
  }

  async ask(text: string, change: Partial<OpenaiOptions> = {}): Promise<Asked> {
    const events: ModelEvent[] = [];
    const messages = [
      { role: "system", text: "SYS" },
      { role: "user", text },
    ] as const;
    const request = { messages, tools: [readTool], signal: new AbortController().signal };
    try {
      for await (const event of this.client(change).stream(request)) events.push(event);
    } catch (error) {
      if (!(error instanceof CodedError)) throw error;
      return { events, error };
    }
    return { events, error: undefined };
  }
}

export function said(events: readonly ModelEvent[]): string {
  return events.map((event) => (event.type === "delta" ? event.text : "")).join("");
}
