// One ping on the control socket. By itself, since the checked client costs more at start than all of
// `ctx status`: nothing secret is sent, and what comes back is only shown.

import type { ServerFacts } from "./status-text.ts";

/** Time for the server's answer. Past it it is shown as not answering. */
const answerMs = 2000;

/** One answer of the server. Past it it is shown as not answering. */
const answerBytesMax = 1024 * 1024;

/**
 * Undefined when nobody listens, "silent" when nothing useful is said. `enter` changes to the tree's
 * runtime folder, since a socket's whole path may be too long to use; it may throw.
 */
export async function askServer(enter: () => void): Promise<ServerFacts | "silent" | undefined> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const timer = setTimeout(() => resolve(""), answerMs);
  const decoder = new TextDecoder();
  let text = "";
  try {
    enter();
    const socket = await Bun.connect({
      unix: "./ctxd.sock",
      socket: {
        data(_socket, chunk) {
          text += decoder.decode(chunk, { stream: true });
          if (text.includes("\n") || text.length > answerBytesMax) resolve(text);
        },
        close: () => resolve(text),
        error: () => resolve(""),
      },
    });
    socket.write('{"op":"ping"}\n');
    const answer = await promise;
    socket.terminate();
    return parseAnswer(answer) ?? "silent";
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

function parseAnswer(text: string): ServerFacts | undefined {
  try {
    const value = JSON.parse(text) as Partial<ServerFacts> & { type?: string };
    return value.type === "pong" && value.sessions ? (value as ServerFacts) : undefined;
  } catch {
    return undefined;
  }
}
