// What a manifest says about one object, once every word of it has been judged.

import type { Place } from "../abi/mod.ts";

export type ManifestClass = "tool" | "agent";

export interface Manifest {
  /** As it was named by whoever read it; for messages. */
  readonly file: string;
  readonly schema: "cortexfs.object/v1" | "cortexfs.object/v2";
  readonly class: ManifestClass;
  readonly name: string;
  /** A SemVer; null in v1, which has none. */
  readonly version: string | null;
  /** A SemVer range of this product; null in v1. */
  readonly compatibility: string | null;
  readonly executable: {
    /** Relative to the manifest's folder, of plain components. */
    readonly path: string;
    /** 64 hex digits. */
    readonly sha256: string;
  };
  /** The text of each control as its file will hold it, judged by the control's own grammar. */
  readonly controls: ReadonlyMap<string, string>;
  /** Where the value of a field stands, e.g. "executable.sha256"; the start when it is absent. */
  place(field: string): Place;
}
