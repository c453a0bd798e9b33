// Interaction v2 frames as a server or a client holds them: flat, with the ids that their family has
// and no null. `session_seq` is there exactly when the frame is a durable fact (and on an ack), so
// that the wire's `durable` follows from it and cannot disagree.

import type * as z from "zod";
import type { V2DataName, V2DataOf } from "./v2-data.ts";
import type { origin, v2Capabilities } from "./v2-fields.ts";

export type V2Capability = (typeof v2Capabilities)[number];
export type V2Mode = "observe" | "interact";
export type V2Origin = z.output<typeof origin>;
/** What an `event` frame tells, by `type`. */
export type V2EventData = V2DataOf<"event">;
/** What a `command` frame asks for, with its deadline and its effect. */
export type V2CommandData = V2DataOf<"command">;

interface OfConnection {
  readonly connection_id: string;
}

interface OfAttachment extends OfConnection {
  readonly attachment_id: string;
}

/** May be repeated from the attachment on any of its frames; they say nothing new there. */
interface Repeated {
  readonly session?: string;
  readonly mode?: V2Mode;
  readonly capabilities?: readonly string[];
}

interface OfRequest extends OfAttachment, Repeated {
  readonly request_id: string;
}

interface OfRun extends OfRequest {
  readonly run_id: string;
}

interface OfCommand extends OfRun {
  readonly command_id: string;
}

/** What a connection announces; a word that the other side does not know means nothing to it. */
interface Announces extends OfConnection {
  readonly capabilities: readonly string[];
}

/** What an attachment asks for, or what it was given. */
interface Grants extends OfAttachment {
  readonly capabilities: readonly V2Capability[];
  readonly mode: V2Mode;
  readonly session: string;
}

interface Fact {
  readonly session_seq: number;
}

interface MaybeFact {
  readonly session_seq?: number;
}

interface Originated {
  readonly origin?: V2Origin;
}

interface Master<K extends string, D extends V2DataName> {
  readonly side: "master";
  readonly kind: K;
  readonly data: V2DataOf<D>;
}

interface Slave<K extends string, D extends V2DataName> {
  readonly side: "slave";
  readonly kind: K;
  readonly data: V2DataOf<D>;
}

export type V2MasterFrame =
  | (Master<"hello", "hello"> & Announces)
  | (Master<"attach", "attach"> & Grants)
  | (Master<"detach", "detach"> & OfAttachment & Repeated)
  | (Master<"ack", "empty"> & OfAttachment & Repeated & Fact)
  | (Master<"input", "input"> & OfRequest & Originated)
  | (Master<"status", "empty"> & OfRequest)
  | (Master<"cancel", "cancel"> & OfRun)
  | (Master<"command_result", "command_result"> & OfCommand);

/** The longest prefix of the ids that the error can safely be put down to. */
type ErrorIds = Partial<Pick<OfCommand, keyof OfCommand>>;

export type V2SlaveFrame =
  | (Slave<"welcome", "welcome"> & Announces)
  | (Slave<"attached", "attached"> & Grants)
  | (Slave<"detach", "detach"> & OfAttachment & Repeated)
  | (Slave<"gap", "gap"> & OfAttachment & Repeated)
  | (Slave<"accepted", "accepted"> & OfRun & Fact & Originated)
  | (Slave<"started", "started"> & OfRun & Fact)
  | (Slave<"event", "event"> & OfRun & MaybeFact & Originated)
  | (Slave<"done", "done"> & OfRun & Fact)
  | (Slave<"command", "command"> & OfCommand)
  | (Slave<"status", "status"> & OfRequest & MaybeFact)
  | (Slave<"error", "error"> & ErrorIds & MaybeFact);

/** Narrow it by `kind`; `detach` and `status` are of both sides and are narrowed by `side` too. */
export type V2Frame = V2MasterFrame | V2SlaveFrame;
