// Back-pressure in both directions.

import { afterEach, describe, expect, test } from "bun:test";
import { rawPeer } from "../../testdata/sock/raw-peer.ts";
import { cleanUp, serve } from "../../testdata/sock/stage.ts";
import type { Connection } from "./mod.ts";

afterEach(cleanUp);

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
