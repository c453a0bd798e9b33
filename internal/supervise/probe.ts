// Whether a terminal's socket answers: a watcher in the framed form is sent the screen at once. Asked
// by the launch, whose uid is the terminal's own; the terminal serves nobody else.

import { fail } from "../abi/mod.ts";
import { probeUnix, throughFolder } from "../os/mod.ts";
import { socketName } from "./endpoint.ts";

/** From the open gate to the first frame. Past it ETIMEDOUT and the terminal is ended. */
const answerMsMax = 20_000;

/** Resolves with the first byte that the terminal sends. */
export async function socketAnswers(folder: number): Promise<"answers"> {
  const path = throughFolder(folder, socketName);
  const { promise, resolve, reject } = Promise.withResolvers<"answers">();
  const late = () => {
    const why = probeUnix(path) === "listening" ? "nobody answers on it" : "nobody listens";
    return `the terminal's socket did not answer in ${answerMsMax} ms: ${why}`;
  };
  const timer = setTimeout(() => {
    try {
      fail("ETIMEDOUT", late());
    } catch (error) {
      reject(error);
    }
  }, answerMsMax);
  promise.catch(() => {});
  const socket = await Bun.connect({
    unix: path,
    socket: {
      open: (peer) => void peer.write("watch/1\n"),
      data: () => resolve("answers"),
      close: () => {},
      error: (_peer, error) => reject(error),
    },
  });
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.terminate();
  }
}
