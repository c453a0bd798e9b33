// The host as a program in a sandbox reaches it: one request over the run's capability socket, and what
// answers it. The socket was bound for this sandbox, so whoever listens there is the host.

import { type CodedError, fail, isCode, opLineBytesMax } from "../../internal/abi/mod.ts";
import { connectLines } from "../../internal/sock/mod.ts";

export type Answer = Readonly<Record<string, unknown>>;

export function controlSocket(): string | undefined {
  return process.env["CTX_CONTROL_SOCKET"] || undefined;
}

/** Sends a request under a fresh id and yields each line that answers. The caller knows the last. */
export async function* askHost(request: Answer): AsyncGenerator<Answer> {
  const path = controlSocket();
  if (path === undefined) {
    return fail("EHOSTDOWN", "cannot ask the host: CTX_CONTROL_SOCKET is not set", {
      hint: "this works in the run of an agent only",
    });
  }
  const connection = await connectLines({
    path,
    servers: "any",
    lineBytesMax: opLineBytesMax,
    hint: "the run that it belongs to has ended",
  });
  try {
    const line = JSON.stringify({ ...request, request_id: crypto.randomUUID() });
    await connection.send(`${line}\n`);
    for await (const received of connection) {
      if (!received.ok) fail(received.code, `the host sent a broken answer: ${received.reason}`);
      const answer: unknown = JSON.parse(received.line);
      yield answer as Answer;
    }
  } finally {
    connection.destroy();
  }
  return fail("EHOSTDOWN", "the host closed the connection before it had answered");
}

/** Throws what a refusal says, as an error of this program. */
export function throwRefusal(answer: Answer): void {
  if (answer["ok"] === false) fail(codeOf(answer["code"]), String(answer["message"]));
}

/** A code that this build does not know is a failure of the host all the same. */
export function codeOf(code: unknown): CodedError["code"] {
  return typeof code === "string" && isCode(code) ? code : "EIO";
}
