// A listening socket against real peers: framing bounds, half close, limits, stale files.

import { afterEach, describe, expect, test } from "bun:test";
import { closeSync, existsSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rawPeer } from "../../testdata/sock/raw-peer.ts";
import { cleanUp, echo, later, own, place, refusal, serve } from "../../testdata/sock/stage.ts";
import { type Connection, connectLines, firstLine, listenLines } from "./mod.ts";

afterEach(cleanUp);

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
    later(() => closeSync(folder));
    const name = `${"n".repeat(64)}.sock`;
    const server = listenLines({
      folder,
      name,
      lineBytesMax: 1024,
      refusal,
      onConnection: (c) => void echo(c),
    });
    later(() => server.close());
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
