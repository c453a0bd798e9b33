// What tests of the MCP side stand on: a server that is hostile in a way that its script names, and a
// way to run a program that tells what the program left behind. Both are Python's standard library,
// since they also run inside of sandboxes in which /usr is all there is. No program imports this.

export { hostileFiles, hostileScripts, hostileServer, python, pythonArgv } from "./hostile.ts";
export { type Watched, watch } from "./watch.ts";
