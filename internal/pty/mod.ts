// The door of pseudo-terminals.

export { openPty, type Pty, type PtyExit, type PtyOptions } from "./pty.ts";
