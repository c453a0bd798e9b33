// The door of terminals: one pseudo-terminal served to many clients, and the log of what it showed.

export * from "./limits.ts";
export { type ListenPlace, openListener, type TerminalListener } from "./listener.ts";
export { RecordStream } from "./record-stream.ts";
export { openRecording, type Recording, type RecordingOptions } from "./recording.ts";
export { type RecordSink, serveTerminal, type TerminalOptions } from "./serve.ts";
