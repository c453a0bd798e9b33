// Connecting: who listens, who does not, and what is left afterwards.

import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { cleanUp, echo, later, own, place, serve } from "../../testdata/sock/stage.ts";
import { connectLines } from "./mod.ts";

afterEach(cleanUp);

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

  test("waits while the server's backlog is full", async () => {
    const { path } = place();
    const listener = `
      socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, sockaddr_un("${path}/full")); listen(S, 1);
      $| = 1; print "listening\n"; <STDIN>;
      while (accept(my $peer, S)) { push @peers, $peer }`;
    const child = Bun.spawn(["perl", "-MSocket", "-e", listener], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    later(() => child.kill("SIGKILL"));
    await child.stdout.getReader().read();
    const options = { path: join(path, "full"), servers: [own], lineBytesMax: 64 };
    let connected = 0;
    const all = Array.from({ length: 6 }, async () => {
      const connection = await connectLines(options);
      connected += 1;
      connection.destroy();
    });
    await Promise.race(all);
    expect(connected).toBeLessThan(6);
    child.stdin.write("go\n");
    child.stdin.flush();
    await Promise.all(all);
    expect(connected).toBe(6);
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
