// How many connections the process has room for, over all its sockets.

import { readFileSync } from "node:fs";

/** Share of the process's descriptors that connections may take; logs and sandboxes need the rest. */
const connectionShare = 0.5;

let room: number | undefined;

/** Connections of the whole server. Past it `busy`. By the soft limit of open files. */
export function connectionsMax(): number {
  room ??= Math.floor(openFilesMax(readFileSync("/proc/self/limits", "utf8")) * connectionShare);
  return room;
}

/** The soft limit in the text of a /proc/PID/limits; 1024, the usual one, when it has none. */
export function openFilesMax(text: string): number {
  const soft = Number(/^Max open files\s+([0-9]+)/m.exec(text)?.[1]);
  return Number.isSafeInteger(soft) && soft > 0 ? soft : 1024;
}
