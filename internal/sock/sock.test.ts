// Line sockets against real peers: framing bounds, back-pressure, half close, limits, identity.

import { afterEach, describe, expect, test } from "bun:test";
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Code } from "../abi/mod.ts";
import {
  type Connection,
  connectLines,
  firstLine,
  type LineServer,
  listenLines,
  type ServerOptions,
} from "./mod.ts";
import { rawPeer } from "./raw-peer.ts";

const own = process.getuid?.() ?? 0;
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

function place(): { path: string; folder: number } {
  const path = mkdtempSync("/tmp/cortexfs-sock-");
  const folder = openSync(path, "r");
  cleanups.push(() => {
    closeSync(folder);
    rmSync(path, { recursive: true, force: true });
  });
  return { path, folder };
}

const refusal = (code: Code, message: string) => `${JSON.stringify({ code, message })}\n`;

function serve(
  onConnection: (connection: Connection) => void,
  options: Partial<ServerOptions> = {},
): { path: string; server: LineServer } {
  const { path, folder } = place();
  const name = options.name ?? "x.sock";
  const server = listenLines({
    lineBytesMax: 1024,
    refusal,
    onConnection,
    ...options,
    folder,
    name,
  });
  cleanups.push(() => server.close());
  return { path: join(path, name), server };
}

async function echo(connection: Connection): Promise<void> {
  for await (const line of connection) {
    await connection.send(line.ok ? `${line.line}\n` : refusal(line.code, line.reason));
    if (!line.ok) break;
  }
  connection.end();
}

describe("listenLines()", () => {
  test("answers each line, names its peer by the kernel's word and ends after a half close", async () => {
    const peers: number[] = [];
    const { path } = serve((connection) => {
      peers.push(connection.peer.pid, connection.peer.uid);
      void echo(connection);
    });
    const peer = await rawPeer(path);
    peer.write("one\ntwo\n");
    expect(await peer.line()).toBe("one\n");
    peer.shutdown();
    expect(await peer.rest()).toBe("two\n");
    expect(peers).toEqual([process.pid, own]);
  });

  test("serves a name of 64 characters in a folder whose path exceeds sun_path", async () => {
    const { path } = place();
    const deep = join(path, "d".repeat(90));
    await Bun.$`mkdir ${deep}`.quiet();
    const folder = openSync(deep, "r");
    cleanups.push(() => closeSync(folder));
    const name = `${"n".repeat(64)}.sock`;
    const server = listenLines({
      folder,
      name,
      lineBytesMax: 1024,
      refusal,
      onConnection: (c) => void echo(c),
    });
    cleanups.push(() => server.close());
    const alias = join(path, "alias");
    symlinkSync(join(deep, name), alias);
    for (const at of [join(deep, name), alias]) {
      const connection = await connectLines({ path: at, servers: [own], lineBytesMax: 1024 });
      connection.send("hello\n");
      expect(await connection.next()).toEqual({ ok: true, line: "hello" });
      connection.destroy();
    }
  });

  test("says EMSGSIZE once for a line past its bound and reads no more", async () => {
    const { path } = serve((connection) => void echo(connection));
    const peer = await rawPeer(path);
    peer.write(`${"x".repeat(5000)}\nlater\n`);
    const answer = await peer.rest();
    expect(JSON.parse(answer).code).toBe("EMSGSIZE");
  });

  test("says EINVAL for bytes that are not UTF-8 and for half a line", async () => {
    const { path } = serve((connection) => void echo(connection));
    for (const bytes of [new Uint8Array([0xff, 0xfe, 0x0a]), new TextEncoder().encode("half")]) {
      const peer = await rawPeer(path);
      peer.write(bytes);
      peer.shutdown();
      expect(JSON.parse(await peer.rest()).code).toBe("EINVAL");
    }
  });

  test("settles `closed` once, as the peer's doing, when the peer leaves", async () => {
    const reasons: string[] = [];
    const seen = Promise.withResolvers<Connection>();
    const { path, server } = serve((connection) => {
      void connection.closed.then((reason) => reasons.push(reason));
      seen.resolve(connection);
    });
    const peer = await rawPeer(path);
    const connection = await seen.promise;
    const pending = connection.next();
    peer.destroy();
    expect(await pending).toBeUndefined();
    await connection.closed;
    connection.destroy();
    expect(reasons).toEqual(["peer"]);
    expect(server.connections).toBe(0);
  });

  test("turns away the connection past its limit with `busy` and serves again when one leaves", async () => {
    const { path, server } = serve((connection) => void echo(connection), { connectionsMax: 2 });
    const first = await rawPeer(path);
    const second = await rawPeer(path);
    for (const peer of [first, second]) {
      peer.write("a\n");
      expect(await peer.line()).toBe("a\n");
    }
    const third = await rawPeer(path);
    expect(JSON.parse(await third.rest()).code).toBe("busy");
    first.shutdown();
    await first.rest();
    while (server.connections > 1) await new Promise(setImmediate);
    const fourth = await rawPeer(path);
    fourth.write("b\n");
    expect(await fourth.line()).toBe("b\n");
  });

  test("firstLine() gives ETIMEDOUT to a peer that says nothing", async () => {
    const { path } = serve(async (connection) => {
      const line = await firstLine(connection, new AbortController().signal, 20);
      if (line?.ok === false) connection.send(refusal(line.code, line.reason));
      connection.end();
    });
    const peer = await rawPeer(path);
    expect(JSON.parse(await peer.rest()).code).toBe("ETIMEDOUT");
  });

  test("firstLine() gives EHOSTDOWN to a peer that is still silent when the server stops", async () => {
    const stopping = new AbortController();
    const waits = Promise.withResolvers<void>();
    const { path } = serve(async (connection) => {
      waits.resolve();
      const line = await firstLine(connection, stopping.signal);
      if (line?.ok === false) connection.send(refusal(line.code, line.reason));
      connection.end();
    });
    const peer = await rawPeer(path);
    await waits.promise;
    stopping.abort();
    expect(JSON.parse(await peer.rest()).code).toBe("EHOSTDOWN");
  });

  test("replaces a socket that a killed server left and refuses to replace a file", async () => {
    const { path, folder } = place();
    const options = {
      folder,
      lineBytesMax: 64,
      refusal,
      onConnection: (c: Connection) => void echo(c),
    };
    await Bun.$`perl -MSocket -e ${`socket(S,AF_UNIX,SOCK_STREAM,0); bind(S,sockaddr_un("${path}/s"))`}`;
    expect(existsSync(join(path, "s"))).toBe(true);
    const server = listenLines({ ...options, name: "s" });
    const peer = await rawPeer(join(path, "s"));
    peer.write("x\n");
    expect(await peer.line()).toBe("x\n");
    server.close();
    expect(existsSync(join(path, "s"))).toBe(false);
    writeFileSync(join(path, "f"), "precious");
    expect(() => listenLines({ ...options, name: "f" })).toThrow("taken by something else");
  });

  test("gives a child process neither the socket nor a connection", async () => {
    const { path } = serve((connection) => void echo(connection));
    const client = await connectLines({ path, servers: [own], lineBytesMax: 64 });
    client.send("x\n");
    await client.next();
    const child = Bun.spawn(["/bin/ls", "-l", "/proc/self/fd"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const listing = await new Response(child.stdout).text();
    expect(listing).toContain("/proc/");
    // Bun gives a child's stdout through a socket pair, so that one is its own.
    expect(listing.match(/socket:/g) ?? []).toHaveLength(
      listing.match(/ 1 -> socket:/g)?.length ?? 0,
    );
    client.destroy();
  });

  test("does not remove the socket of a successor", async () => {
    const { path, folder } = place();
    const options = { folder, name: "s", lineBytesMax: 64, refusal, onConnection: () => {} };
    const first = listenLines(options);
    const second = listenLines(options);
    first.close();
    expect(existsSync(join(path, "s"))).toBe(true);
    second.close();
    expect(existsSync(join(path, "s"))).toBe(false);
  });
});

describe("Connection.send()", () => {
  test("makes the producer wait for a peer that does not read and loses nothing", async () => {
    const count = 3000;
    let produced = 0;
    let mostQueued = 0;
    const stuck = Promise.withResolvers<void>();
    const { path } = serve(async (connection) => {
      for (let number = 0; number < count; number += 1) {
        const wait = connection.send(`${number} ${"x".repeat(900)}\n`);
        produced += 1;
        mostQueued = Math.max(mostQueued, connection.queuedBytes);
        if (wait !== undefined) {
          stuck.resolve();
          await wait;
        }
      }
      connection.end();
    });
    const peer = await rawPeer(path);
    peer.pause();
    await stuck.promise;
    expect(produced).toBeLessThan(count);
    peer.resume();
    const lines = (await peer.rest()).split("\n");
    expect(lines.length - 1).toBe(count);
    expect(lines[count - 1]).toStartWith(`${count - 1} `);
    expect(mostQueued).toBeLessThan(1024);
  });

  test("drops a peer that takes nothing for the stall time as slow_consumer", async () => {
    const reason = Promise.withResolvers<string>();
    const { path } = serve(
      async (connection) => {
        void connection.closed.then(reason.resolve);
        while (!connection.isClosed) await connection.send(`${"x".repeat(900)}\n`);
      },
      { stallMs: 50 },
    );
    const peer = await rawPeer(path);
    peer.pause();
    expect(await reason.promise).toBe("slow_consumer");
    peer.destroy();
  });

  test("drops a peer at the queue's bound when the producer does not wait", async () => {
    const reason = Promise.withResolvers<string>();
    let mostQueued = 0;
    const { path } = serve(
      (connection) => {
        void connection.closed.then(reason.resolve);
        while (!connection.isClosed) {
          void connection.send(`${"x".repeat(900)}\n`);
          mostQueued = Math.max(mostQueued, connection.queuedBytes);
        }
      },
      { outboundBytesMax: 10_000 },
    );
    const peer = await rawPeer(path);
    expect(await reason.promise).toBe("slow_consumer");
    expect(mostQueued).toBeGreaterThan(8000);
    expect(mostQueued).toBeLessThanOrEqual(10_000);
    peer.destroy();
  });
});

describe("Connection.next()", () => {
  test("leaves what nobody takes in the kernel, so that a flood costs its sender", async () => {
    const flooded = Promise.withResolvers<Connection>();
    const { path } = serve((connection) => flooded.resolve(connection));
    const peer = await rawPeer(path);
    const total = 8 * 1024 * 1024;
    peer.write(`${"x".repeat(1022)}\n`.repeat(total / 1023));
    const connection = await flooded.promise;
    // With reading paused the kernel's buffers fill and the sender keeps the rest.
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    expect(peer.unsent()).toBeGreaterThan(total / 2);
    const line = await connection.next();
    expect(line).toEqual({ ok: true, line: "x".repeat(1022) });
    peer.destroy();
  });
});

describe("connectLines()", () => {
  test("tells a missing socket from a dead one, both EHOSTDOWN with the hint", async () => {
    const { path } = place();
    await Bun.$`perl -MSocket -e ${`socket(S,AF_UNIX,SOCK_STREAM,0); bind(S,sockaddr_un("${path}/dead"))`}`;
    for (const [name, reason] of [
      ["none", "no such socket"],
      ["dead", "nobody listens"],
    ] as const) {
      const attempt = connectLines({
        path: join(path, name),
        servers: [own],
        lineBytesMax: 64,
        hint: "start it",
      });
      expect(attempt).rejects.toMatchObject({
        code: "EHOSTDOWN",
        hint: "start it",
        message: expect.stringContaining(reason),
      });
      await attempt.catch(() => {});
    }
  });

  test("refuses a server of another uid before it sends anything", async () => {
    const got: unknown[] = [];
    const { path } = serve(async (connection) => {
      for await (const line of connection) got.push(line);
      got.push("end");
      connection.end();
    });
    const attempt = connectLines({ path, servers: [own + 1], lineBytesMax: 64 });
    expect(attempt).rejects.toMatchObject({ code: "EACCES" });
    await attempt.catch(() => {});
    while (got.length === 0) await new Promise(setImmediate);
    expect(got).toEqual(["end"]);
  });

  test("a thousand connections leave the descriptors as they were", async () => {
    const { path, server } = serve((connection) => void echo(connection));
    const descriptors = () => readdirSync("/proc/self/fd").length;
    const turn = async () => {
      const connection = await connectLines({ path, servers: [own], lineBytesMax: 64 });
      connection.send("x\n");
      await connection.next();
      connection.end();
      await connection.closed;
    };
    await turn();
    const before = descriptors();
    for (let round = 0; round < 10; round += 1)
      await Promise.all(Array.from({ length: 100 }, turn));
    while (server.connections > 0) await new Promise(setImmediate);
    expect(descriptors()).toBe(before);
  });
});
