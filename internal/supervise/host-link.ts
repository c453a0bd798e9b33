// The launch's side of launch.sock. Until the gate opens a lost server ends the launch; afterwards the
// terminal goes on without one, and a server that comes later is told that it is there.

import { CodedError, fail } from "../abi/mod.ts";
import { terminalPlanVersion } from "../launch/mod.ts";
import { type Connection, connectLines } from "../sock/mod.ts";
import {
  decodeServerLine,
  encodeLine,
  type LaunchSays,
  launchLineBytesMax,
  type ServerSays,
} from "./wire.ts";

/** Pause before the launch looks for a server again; doubled up to the second. */
const reconnectMsMin = 250;
const reconnectMsMax = 4000;

export class HostLink {
  readonly #path: string;
  readonly #ticket: string;
  #connection: Connection | undefined;
  #over = false;

  constructor(path: string, ticket: string) {
    this.#path = path;
    this.#ticket = ticket;
  }

  /** The first conversation; throws when there is no server, or one that does not know the ticket. */
  async hello(): Promise<Extract<ServerSays, { type: "plan" }>> {
    await this.#connect("hello");
    return await this.expect("plan");
  }

  async expect<T extends ServerSays["type"]>(type: T): Promise<Extract<ServerSays, { type: T }>> {
    const line = await this.#connection?.next();
    const said = line?.ok ? decodeServerLine(line.line) : undefined;
    if (said?.type === type) return said as Extract<ServerSays, { type: T }>;
    const reason = said?.type === "refused" ? said.message : "the server went away";
    return fail("ECANCELED", `the launch ends: ${reason}`);
  }

  async say(message: LaunchSays): Promise<void> {
    await this.#connection?.send(encodeLine(message));
  }

  /**
   * From now on a server that goes away is waited for; `again` is what a new one is told then. `alone`
   * is called as often as there is none.
   */
  persist(again: () => LaunchSays, alone: () => void): void {
    void this.#keep(again, alone);
  }

  /** Tells the last word, if anybody listens, and lets go. */
  async end(message: LaunchSays): Promise<void> {
    this.#over = true;
    const connection = this.#connection;
    if (connection === undefined || connection.isClosed) return;
    void connection.send(encodeLine(message));
    connection.end();
    await connection.closed;
  }

  async #connect(type: "hello" | "again"): Promise<void> {
    const own = process.geteuid?.() ?? 0;
    this.#connection = await connectLines({
      path: this.#path,
      // The host's server, or one of this very user.
      servers: [...new Set([0, own])],
      lineBytesMax: launchLineBytesMax,
    });
    await this.say({ type, version: terminalPlanVersion, ticket: this.#ticket });
  }

  async #keep(again: () => LaunchSays, alone: () => void): Promise<void> {
    let pause = reconnectMsMin;
    for (;;) {
      // A server says nothing more; what comes or ends is only waited for.
      for await (const _ of this.#connection ?? []);
      await this.#connection?.closed;
      if (this.#over) return;
      await Bun.sleep(pause);
      if (this.#over) return;
      pause = Math.min(pause * 2, reconnectMsMax);
      try {
        await this.#connect("again");
        await this.say(again());
        pause = reconnectMsMin;
      } catch (error) {
        if (!(error instanceof CodedError)) throw error;
        this.#connection = undefined;
        alone();
      }
    }
  }
}
