// The door of the terminal's wire: how a client begins, the frames of the framed form, the records
// of what a terminal showed and what is made of them, and the machine that decides for the clients.

export { AsciicastWriter, asciicastLines } from "./asciicast.ts";
export * from "./client-events.ts";
export * from "./client-limits.ts";
export * from "./clients.ts";
export { type CommandOutput, commandsOf } from "./commands.ts";
export * from "./first-line.ts";
export * from "./frames.ts";
export * from "./record-stream.ts";
export * from "./records.ts";
