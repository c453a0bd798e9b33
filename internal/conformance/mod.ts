// The door of conformance: the files of `abi/` inside the program, and what is done with them.

export { abiFile, abiFileNames, abiFiles } from "./files.ts";
export { type Frozen, freeze, frozenFile, isFrozen } from "./frozen.ts";
