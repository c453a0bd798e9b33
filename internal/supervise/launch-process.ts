// What a `ctxd launch` is: the parent of one terminal's sandbox, for as long as that lives. It makes
// the socket outside, hands it in, keeps the recording where the agent cannot write, and says at the
// end how it ended. It runs as the agent's uid, so all of its files are the owner's.

import { closeSync, fstatSync, lstatSync } from "node:fs";
import { coded, fail, killGraceMs } from "../abi/mod.ts";
import { stopJanitor } from "../bwrap/mod.ts";
import { decodeTerminalPlan, type RunningTerminal, startTerminal } from "../launch/mod.ts";
import { listenUnix, openPath, throughFolder } from "../os/mod.ts";
import { socketName } from "./endpoint.ts";
import { HostLink } from "./host-link.ts";
import { socketAnswers } from "./probe.ts";
import { type Ending, Recorder } from "./recorder.ts";
import { Tail } from "./tail.ts";
import { writeEnding } from "./written-ending.ts";

/** Clients of one terminal that wait to be accepted. */
const terminalBacklog = 64;

/**
 * What a stop gives the sandbox: the terminal's owner has the grace for its child, and this much more
 * to tell its clients and the recording.
 */
const endMarginMs = 500;

export interface LaunchProcessOptions {
  /** Path of launch.sock. */
  readonly server: string;
  readonly ticket: string;
  /** Aborted by a signal that asks for the end. */
  readonly signal: AbortSignal;
}

/** Resolves when nothing of the terminal is left. Throws what kept it from running. */
export async function runLaunch({ server, ticket, signal }: LaunchProcessOptions): Promise<void> {
  const link = new HostLink(server, ticket);
  const given = await link.hello();
  const folder = openPath(given.socketFolder, "folder");
  let recorder: Recorder | undefined;
  try {
    // Before anything runs: a terminal whose recording cannot be kept is not started.
    const kept = new Recorder(given.resource);
    recorder = kept;
    await withSocket(folder, async (socket) => {
      const terminal = await startTerminal(decodeTerminalPlan(given.plan), {
        signal,
        listening: socket.fd,
        async standing({ root, init }) {
          await link.say({ type: "standing", root, init });
          await link.expect("go");
        },
      });
      // Of those who hold the socket only the terminal's owner is left.
      socket.close();
      await run(terminal, { link, folder, recorder: kept, resource: given.resource, signal });
    });
  } catch (thrown) {
    const { code, message, hint } = coded(thrown);
    await link.end({ type: "failed", code, message, ...(hint === undefined ? {} : { hint }) });
    throw thrown;
  } finally {
    closeSync(folder);
    await recorder?.close();
    // Nothing of this process runs any more that a kill could leave behind.
    stopJanitor();
  }
}

interface ListeningSocket {
  readonly fd: number;
  /** Closes this process's own descriptor, once. */
  close(): void;
}

/** Its name is the server's to take away, with the other names that it gave the socket. */
async function withSocket(
  folder: number,
  use: (socket: ListeningSocket) => Promise<void>,
): Promise<void> {
  const { uid, mode } = fstatSync(folder);
  if (uid !== process.geteuid?.() || (mode & 0o077) !== 0) {
    fail("EACCES", "the folder for the terminal's socket is not private");
  }
  const fd = listenUnix(throughFolder(folder, socketName), terminalBacklog);
  let open = true;
  const close = () => {
    if (open) closeSync(fd);
    open = false;
  };
  try {
    await use({ fd, close });
  } finally {
    close();
  }
}

interface Surroundings {
  readonly link: HostLink;
  readonly folder: number;
  readonly recorder: Recorder;
  readonly resource: string;
  readonly signal: AbortSignal;
}

async function run(terminal: RunningTerminal, around: Surroundings): Promise<void> {
  const { link, folder, recorder, resource, signal } = around;
  const stop = () => void terminal.kill(killGraceMs + endMarginMs);
  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  const tail = new Tail();
  const said = tail.read(terminal.stderr);
  const end = new Ended(resource);
  // The sandbox takes its time to go; that the program has ended is known, and told, before.
  const recorded = recorder.keep(terminal.stdout, {
    isOver: () => void link.say({ type: "ending" }),
    isRecorded: (ending) => end.write(ending),
  });
  const ended = Promise.withResolvers<"ended">();
  void terminal.exited.then(() => ended.resolve("ended"));
  let answers = false;
  try {
    const first = await Promise.race([socketAnswers(folder), ended.promise]);
    if (first === "answers") {
      answers = true;
      // Without its socket, as when the whole runtime folder went at a logout, nobody can join the
      // terminal any more, and without its receipt nobody can stop it.
      const alone = () => {
        if (lstatSync(throughFolder(folder, socketName), { throwIfNoEntry: false })) return;
        stop();
      };
      link.persist(() => ({ type: recorder.ending === undefined ? "answers" : "ending" }), alone);
      await link.say({ type: "answers" });
    }
    const status = await terminal.exited;
    await terminal.kill(0);
    await said;
    await recorded;
    if (!answers && recorder.ending === undefined) refuseUnborn(status, tail.text());
    const ending = recorder.ending ?? endingOf(status);
    recorder.end(ending);
    end.write(ending);
    await link.end({ type: "ended", ...ending });
  } finally {
    signal.removeEventListener("abort", stop);
    await terminal.kill(0);
    await terminal.end();
  }
}

/** The files that say how it ended, and since when. */
class Ended {
  readonly #resource: string;
  #at: Date | undefined;

  constructor(resource: string) {
    this.#resource = resource;
  }

  write(ending: Ending): void {
    this.#at ??= new Date();
    try {
      writeEnding(this.#resource, ending, this.#at);
    } catch {
      // The owner has broken the folder, or the disk is full: the server writes down what it is told.
    }
  }
}

/** When the terminal's owner did not say how its child ended. */
function endingOf(status: number): Ending {
  return status > 128 ? { status, signal: status - 128 } : { status };
}

function refuseUnborn(status: number, said: string): never {
  const because = said === "" ? `its program ended with ${status}` : said;
  return fail("EHOSTDOWN", `the terminal did not come up: ${because}`);
}
