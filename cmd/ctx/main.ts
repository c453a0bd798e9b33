#!/usr/bin/env bun
// The person's client and the runner of built-in objects. Chooses the part of the program that
// answers and imports nothing itself: a tool call in a sandbox is a process that comes through here.

export {};

const [, , first, second] = process.argv;
const commands = () => import("./dispatch.ts");

// Each flat part is one piece of code when compiled; an agent object needs the commands themselves.
const isTool = first === "exec" && !/(?:^|\/)agent\/[^/]*$/.test(second ?? "");
const isQuick = /^(?:status|ls|cat|validate-name|--version|-V|--help|-h)$/.test(first ?? "");

const { start } = isTool
  ? await import("./flat-exec.ts")
  : isQuick
    ? await import("./flat-quick.ts")
    : await import("./start.ts");
await start(commands);
