#!/usr/bin/env bun
// The person's client and the runner of built-in objects. A tool call in a sandbox is a process that
// comes through here, so what it needs is in one flat piece and everything else is loaded on demand.

import { answer, glance } from "./flat-glance.ts";

const text = await glance(process.argv.slice(2));
if (text !== undefined) await answer(text);
const { start } = await import("./flat.ts");
await start(() => import("./start.ts"));
