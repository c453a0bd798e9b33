// The folder that a run's capability socket is in, as its sandboxes see it. It is chosen when the
// first of them is planned and stays the run's own until the run is over; without a run it is the one
// that the session's next run would get.

import type { RunPlace, RunSockets } from "../run-socket/mod.ts";
import type { RunContext } from "../session/mod.ts";

type Folders = Pick<RunSockets, "place" | "lease" | "release">;
type OfRun = Pick<RunContext, "agent" | "session" | "scope" | "run">;

export class RunFolder {
  readonly #sockets: Folders | undefined;
  readonly #context: OfRun;
  #running: boolean;

  /** `running`: the run has begun, so that no other one may have its folder. */
  constructor(sockets: Folders | undefined, context: OfRun, running: boolean) {
    this.#sockets = sockets;
    this.#context = context;
    this.#running = running;
  }

  /** Undefined when the host serves no sockets. `uid` is that of the run's processes. */
  of(uid: number): string | undefined {
    const place = placeOf(this.#context, uid);
    if (!this.#running) return this.#sockets?.place(place);
    return this.#sockets?.lease(place, this.#context.run);
  }

  /** The run is over, and so is its socket. */
  release(): void {
    this.#running = false;
    this.#sockets?.release(this.#context.run);
  }
}

function placeOf({ agent, session, scope }: OfRun, peerUid: number): RunPlace {
  const named = scope.kind === "shared" ? `shared:${scope.space}` : scope.kind;
  return { agent, session, scope: named, peerUid };
}
