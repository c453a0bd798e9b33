// A watcher of a terminal as a process of its own: `bun terminal-ctxterm-watcher.ts SOCKET`. Prints
// "here" when it has seen the screen, and the code it was told when the connection ends.

import { TerminalClient } from "./terminal-ctxterm-client.ts";

const client = await TerminalClient.connect(process.argv[2] ?? "", "watch/1\n");
client.sink = () => {};
await client.until(({ frames }) => frames.length > 0);
process.stdout.write("here\n");
await client.untilEnd();
process.stdout.write(`${client.frame("error")?.code ?? "nothing"}\n`);
process.exit(0);
