// What the tests of starting and stopping terminals need beside a world: requests on the agent's
// socket, what a terminal's files say, and a client of its socket that knows only the plain form.

import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
} from "node:fs";
import { connect } from "node:net";
import { basename, dirname, join } from "node:path";
import { asUid, RawClient } from "./raw-client.ts";
import type { Frame, World } from "./world.ts";

export interface TerminalMember {
  readonly id: string;
  readonly state: string;
  readonly status?: number;
  readonly signal?: number;
  readonly socket: string;
  readonly alias: string;
  readonly folder: string;
  readonly cwd: string;
  readonly workspace?: string;
  readonly supervisor: string;
  readonly started_at: string;
  readonly ended_at?: string;
}

let asked = 0;

/** Every frame that answers one request. */
export async function ask(world: World, request: object, agent = "coder"): Promise<Frame[]> {
  const client = new RawClient(join(world.source, "agent", `${agent}.sock`), world.uid);
  asked += 1;
  client.send({ id: `r-${asked}`, ...request });
  await client.closed;
  return client.frames;
}

export interface Start {
  readonly session?: string;
  readonly cwd?: string;
  readonly mounts?: readonly string[];
  readonly command?: readonly string[];
}

export async function start(world: World, wanted: Start = {}): Promise<TerminalMember> {
  return only(await ask(world, { op: "start", ...wanted }));
}

export async function stop(world: World, session = "default"): Promise<TerminalMember> {
  return only(await ask(world, { op: "stop", session }));
}

export async function listed(world: World): Promise<TerminalMember[]> {
  return (await ask(world, { op: "ps" })).map(memberOf);
}

function only(frames: readonly Frame[]): TerminalMember {
  if (frames.length !== 1) throw new Error(`not one frame: ${JSON.stringify(frames)}`);
  return memberOf(frames[0] as Frame);
}

function memberOf(frame: Frame): TerminalMember {
  const { terminal } = frame;
  if (frame.type === "status" && terminal !== undefined) return terminal as TerminalMember;
  throw new Error(`not a terminal's status: ${JSON.stringify(frame)}`);
}

export function folderOf(world: World, session = "default"): string {
  return join(world.sessionFolder(session), "terminal/main");
}

/** One of the small files without its newline; undefined when it is not there. */
export function fileOf(world: World, name: string, session = "default"): string | undefined {
  const path = join(folderOf(world, session), name);
  return existsSync(path) ? readFileSync(path, "utf8").replace(/\n$/, "") : undefined;
}

export interface Recorded {
  readonly type: string;
  readonly seq: number;
  readonly data?: string;
  readonly status?: number;
  readonly signal?: number;
}

/** The whole lines of the recording so far. */
export function recordsOf(world: World, session = "default"): Recorded[] {
  const path = join(folderOf(world, session), "events.jsonl");
  if (!existsSync(path)) return [];
  const text = readFileSync(path, "utf8");
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  return lines.filter(Boolean).map((line) => JSON.parse(line) as Recorded);
}

/** All that the terminal has shown, as text. */
export function shown(world: World, session = "default"): string {
  const parts = recordsOf(world, session).map(({ data = "" }) => Buffer.from(data, "base64"));
  return Buffer.concat(parts).toString("utf8").replaceAll("\r\n", "\n");
}

/** Looks until it is so; whatever is waited for is named when it never comes. */
export async function until<T>(what: string, look: () => T | undefined | false): Promise<T> {
  // A busy machine is slow and not wrong.
  const end = performance.now() + 40_000;
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`this never came: ${what}`);
    await Bun.sleep(5);
  }
}

/** What follows `<name=` and ends with `>` in what the terminal has shown. */
export function mark(world: World, name: string, session = "default"): Promise<string> {
  return until(`<${name}=…> in ${JSON.stringify(shown(world, session))}`, () => {
    return new RegExp(`<${name}=([^>]*)>`).exec(shown(world, session))?.[1];
  });
}

/** A client in the plain form, connected as the world's uid through the alias. */
export class PlainClient {
  text = "";
  readonly closed: Promise<void>;
  readonly #socket: ReturnType<typeof connect>;

  constructor(world: World, mode: "watch" | "attach", session = "default") {
    const real = readlinkSync(join(dirname(folderOf(world, session)), "main.sock"));
    const folder = openSync(dirname(real), constants.O_RDONLY | constants.O_DIRECTORY);
    this.#socket = asUid(world.uid, () => connect(`/proc/self/fd/${folder}/${basename(real)}`));
    this.#socket.on("error", () => undefined);
    this.#socket.on("data", (data: Buffer) => {
      this.text += data.toString("utf8");
    });
    this.closed = new Promise((resolve) => {
      this.#socket.on("close", () => {
        closeSync(folder);
        resolve();
      });
    });
    this.#socket.write(`${mode}\n`);
  }

  type(text: string): void {
    this.#socket.write(text);
  }

  end(): void {
    this.#socket.destroy();
  }
}

/** Pids of the world's own sleepers by how long they sleep, a pattern. */
export function sleepers(world: World, seconds: string): number[] {
  return running(world, new RegExp(`^/usr/bin/sleep ${seconds}$`));
}

/** Pids of the world's own processes by their command lines, words put together with spaces. */
export function running(world: World, line: RegExp): number[] {
  const isOurs = (pid: string) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
      return statSync(`/proc/${pid}`).uid === world.uid && line.test(words.join(" "));
    } catch {
      // It has just ended.
      return false;
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isOurs(name))
    .map(Number);
}

/** Programs that a test's sandbox is to run and this system has not. */
export function missingPrograms(...names: readonly string[]): string[] {
  return names.filter((name) => !existsSync(join("/usr/bin", name)));
}

/** Says what is skipped, and gives whether it is: not a test is left out in silence. */
export function skipsWithout(what: string, ...names: readonly string[]): boolean {
  const missing = missingPrograms(...names);
  if (missing.length > 0) console.log(`SKIP ${what}: there is no ${missing.join(", ")}`);
  return missing.length > 0;
}

export interface Stamp {
  readonly pid: number;
  readonly startTime: string;
}

/** The processes that the receipt names. */
export function receiptOf(world: World, session: string): { readonly [process: string]: Stamp } {
  return JSON.parse(readFileSync(receiptPath(world, session), "utf8"));
}

export function receiptPath(world: World, session: string): string {
  const run = join(world.base, "run");
  const tree = readdirSync(run).find((name) => name.startsWith("tree-")) ?? "";
  return join(run, tree, "receipt", `coder@${session}.json`);
}

export async function stopAll(world: World): Promise<void> {
  const all = await listed(world);
  await Promise.all(all.map(({ id }) => stop(world, id.replace("terminal-coder-", ""))));
}

export const sh = (script: string) => ["/bin/sh", "-c", script];

/** Stays until it is told to end. */
export const wait = "exec /usr/bin/sleep 600";
