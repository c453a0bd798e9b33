// Runs the model server by itself: `bun testdata/model-server/main.ts --mode story --empty-names`.
// Prints one JSON line with its base URL when it listens, and runs until it is stopped.

import { parseArgs } from "node:util";
import { startModelServer } from "./server.ts";

const { values } = parseArgs({
  options: {
    mode: { type: "string", default: "script" },
    port: { type: "string", default: "0" },
    key: { type: "string" },
    denied: { type: "string" },
    "empty-names": { type: "boolean", default: false },
    instant: { type: "boolean", default: false },
    "drip-ms": { type: "string", default: "0" },
  },
});

const server = startModelServer({
  mode: values.mode === "story" ? "story" : "script",
  port: Number(values.port),
  emptyNames: values["empty-names"],
  instant: values.instant,
  dripMs: Number(values["drip-ms"]),
  usage: { input: 100, output: 20 },
  ...(values.key === undefined ? {} : { key: values.key }),
  ...(values.denied === undefined ? {} : { denied: values.denied }),
});

process.stdout.write(`${JSON.stringify({ base_url: server.baseUrl, model: "test-model" })}\n`);

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => void server.stop().then(() => process.exit(0)));
}
