// A server that is wrong on purpose: it stands before the real one and changes what passes, line by
// line, as its mutant says. Without a mutant it passes bytes on as they are. The real server sees
// the agent's owner, as it would see any client of theirs.

import { createServer, type Server, type Socket } from "node:net";
import { RawClient } from "../e2e/raw-client.ts";

/** One connection, as a mutant sees it. */
export interface Link {
  toServer(text: string): void;
  toClient(text: string): void;
  /** Another connection to the real server. */
  another(): RawClient;
  /** Facts of this connection. */
  readonly notes: Map<string, string>;
  /** Facts of all connections of one broken server. */
  readonly shared: Map<string, string>;
}

export interface Mutant {
  readonly name: string;
  readonly abi: "op" | "v1" | "v2";
  /** The talk that catches it. */
  readonly golden: string;
  /** Whole lines with their LF, in either direction; a direction without one passes bytes on. */
  upward?(line: string, link: Link): void | Promise<void>;
  downward?(line: string, link: Link): void;
}

export class ProxyServer {
  readonly #server: Server;
  readonly #shared = new Map<string, string>();

  static async listen(
    path: string,
    target: { readonly path: string; readonly uid: number },
    mutant: Mutant | undefined,
  ): Promise<ProxyServer> {
    const proxy = new ProxyServer(target, mutant);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once("error", reject).listen(path, resolve);
    });
    return proxy;
  }

  private constructor(
    target: { readonly path: string; readonly uid: number },
    mutant: Mutant | undefined,
  ) {
    const open = () => new RawClient(target.path, target.uid, { paused: true });
    this.#server = createServer({ allowHalfOpen: true }, (client) => {
      pass(client, open, mutant, this.#shared, () => new RawClient(target.path, target.uid));
    });
  }

  close(): void {
    this.#server.close();
  }
}

function pass(
  client: Socket,
  open: () => RawClient,
  mutant: Mutant | undefined,
  shared: Map<string, string>,
  another: () => RawClient,
): void {
  const { socket } = open();
  const link: Link = {
    toServer: (text) => void socket.write(text),
    toClient: (text) => void client.write(text),
    another,
    notes: new Map(),
    shared,
  };
  client.on("error", () => socket.destroy());
  const up = lines(mutant?.upward, link, (bytes) => void socket.write(bytes));
  client.on("data", (chunk: Buffer) => up.push(chunk)).on("end", () => up.end(() => socket.end()));
  // A client that has gone altogether is gone for the server as well.
  client.on("close", () => socket.destroy());
  const down = lines(mutant?.downward, link, (bytes) => void client.write(bytes));
  socket.on("data", (text: string) => down.push(Buffer.from(text)));
  socket.on("end", () => down.end(() => client.end()));
  socket.resume();
}

/** Cuts bytes into lines for a mutant; lines wait for each other, what has no LF passes as it is. */
function lines(
  mutate: ((line: string, link: Link) => void | Promise<void>) | undefined,
  link: Link,
  onward: (bytes: Buffer) => void,
): { push(chunk: Buffer): void; end(then: () => void): void } {
  if (mutate === undefined) return { push: onward, end: (then) => then() };
  let rest: Buffer = Buffer.alloc(0);
  let busy = Promise.resolve();
  return {
    push(chunk) {
      rest = Buffer.concat([rest, chunk]);
      for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
        const line = rest.subarray(0, at + 1).toString();
        rest = rest.subarray(at + 1);
        busy = busy.then(() => mutate(line, link));
      }
    },
    end(then) {
      busy = busy.then(() => {
        if (rest.length > 0) onward(rest);
        then();
      });
    },
  };
}
