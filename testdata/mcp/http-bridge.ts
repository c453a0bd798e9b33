// An MCP server over stdio that is another's over streamable HTTP: `http-bridge.ts URL`. It passes
// every line on and prints what comes back, and adds what HTTP needs: the session's id, the version
// once it was agreed on, and events read as messages. For tests that have a server over HTTP alone.

import { createInterface } from "node:readline";

const url = process.argv[2] ?? "";
const headers: Record<string, string> = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: { readonly protocolVersion?: string };
}

function print(text: string): void {
  const message = JSON.parse(text) as Message;
  if (message.result?.protocolVersion !== undefined) {
    headers["mcp-protocol-version"] = message.result.protocolVersion;
  }
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** Prints the data of each event; an event without data only keeps the connection. */
async function printEvents(body: ReadableStream<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  let unread = "";
  for await (const bytes of body) {
    const text = decoder.decode(bytes, { stream: true });
    const events = (unread + text).replaceAll("\r\n", "\n").split("\n\n");
    unread = events.pop() ?? "";
    for (const event of events) {
      const data = event.split("\n").filter((line) => line.startsWith("data:"));
      const said = data.map((line) => line.slice(5).trimStart()).join("\n");
      if (said !== "") print(said);
    }
  }
}

async function pass(line: string): Promise<void> {
  const response = await fetch(url, { method: "POST", headers, body: line });
  const session = response.headers.get("mcp-session-id");
  if (session !== null) headers["mcp-session-id"] = session;
  const events = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (events && response.body !== null) return await printEvents(response.body);
  const text = await response.text();
  // A notification is answered by HTTP alone; what a server says about it is nobody's answer.
  if (text !== "" && (JSON.parse(line) as Message).id !== undefined) print(text);
}

/** The first message is answered before others go out: their headers follow from the answer. */
let agreed: Promise<void> | undefined;
const passing: Promise<void>[] = [];
for await (const line of createInterface({ input: process.stdin })) {
  await agreed;
  const passed = pass(line);
  agreed ??= passed;
  passing.push(passed);
}
await Promise.all(passing);
