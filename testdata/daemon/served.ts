// A server on a throw-away tree with stand-ins for its services, and what its tests say to it.

import { dlopen } from "bun:ffi";
import { askAgent } from "../../internal/client/mod.ts";
import { type Daemon, defaultSettings, serve } from "../../internal/daemon/mod.ts";
import type { OpFrame, OpRequest } from "../../internal/interaction/mod.ts";
import { type RawPeer, rawPeer } from "../sock/raw-peer.ts";
import { type FakeLog, fakeParts } from "./fakes.ts";
import { makeTestTree, type TestTree } from "./test-tree.ts";

export const isRoot = process.getuid?.() === 0;

const cleanups: (() => unknown)[] = [];

/** For `afterEach`: stops the servers and removes the trees of the test. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

export function newTree(owner?: number): TestTree {
  const tree = makeTestTree(owner);
  cleanups.push(() => tree.remove());
  return tree;
}

export interface Served {
  readonly daemon: Daemon;
  readonly log: FakeLog;
  readonly events: string[];
}

export async function serveTree(tree: TestTree): Promise<Served> {
  const { parts, log } = fakeParts();
  const events: string[] = [];
  const options = {
    places: tree.places,
    settings: defaultSettings,
    ctxBinary: "/nonexistent",
    log: (event: string) => events.push(event),
  };
  const daemon = await serve(options, parts);
  cleanups.push(() => daemon.stop());
  return { daemon, log, events };
}

export const send = (input: string, id = "r1"): OpRequest => ({
  op: "send",
  id,
  session: "default",
  scope: { kind: "private" },
  input,
  cwd: undefined,
  workspace: undefined,
});

export const line = (value: unknown) => `${JSON.stringify(value)}\n`;

export const frames = (text: string) =>
  text
    .split("\n")
    .slice(0, -1)
    .map((one) => JSON.parse(one) as Record<string, unknown>);

export async function collect(
  tree: TestTree,
  request: OpRequest,
  agent = "coder",
): Promise<OpFrame[]> {
  const all = [];
  for await (const frame of askAgent(tree.places, agent, request)) all.push(frame);
  return all;
}

/** Connects with another effective uid, set for this thread alone while connect(2) runs. */
export function peerAs(uid: number, path: string): Promise<RawPeer> {
  const { symbols } = dlopen("libc.so.6", {
    syscall: { args: ["i64", "i64", "i64", "i64"], returns: "i64" },
  });
  const setresuid = process.arch === "arm64" ? 147 : 117;
  symbols.syscall(setresuid, -1, uid, -1);
  try {
    return rawPeer(path);
  } finally {
    symbols.syscall(setresuid, -1, 0, -1);
  }
}
