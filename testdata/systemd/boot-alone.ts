// Boots a systemd, prints its host pid and its folder, and waits for whatever ends it.

import { Booted } from "./booted.ts";

const booted = await Booted.boot({ accounts: [], managers: [], folders: {} });
process.stdout.write(`${typeof booted === "string" ? booted : booted.leader}\n`);
await new Promise(() => setInterval(() => {}, 60_000));
