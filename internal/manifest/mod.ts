// The door of manifests: from the text of one to what it says about an object.

export { parseManifest } from "./parse.ts";
export { manifestBytesMax } from "./source.ts";
export type { Manifest, ManifestClass } from "./types.ts";
export { isCompatible } from "./version.ts";
