// What a run asks of its servers.

import type {
  Launcher,
  LaunchIo,
  LaunchOutcome,
  LaunchRequest,
  ServiceLauncher,
} from "../launch/mod.ts";
import type { SecretPlaces } from "../secret/mod.ts";
import type { Tree } from "../tree/mod.ts";

export interface ToolServersOptions {
  readonly tree: Tree;
  readonly launcher: ServiceLauncher & Pick<Launcher, "examine">;
  readonly secrets: SecretPlaces;
}

export interface ServedOutcome extends LaunchOutcome {
  /** Images, sounds and blobs that the output names by their SHA-256. */
  readonly kept: readonly Uint8Array[];
}

export interface ToolServers {
  /** A refused or failed call is an outcome with a code; it rejects only for a bug of ours. */
  call(request: LaunchRequest, io: LaunchIo): Promise<ServedOutcome>;
  /** The run is over: its servers are ended. Resolves when they are gone. */
  over(run: string): Promise<void>;
  /** Ends all of them. */
  close(): Promise<void>;
}
