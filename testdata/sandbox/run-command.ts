// Runs one shell.exec call as this process's own user and prints what came of it: `run-command.ts
// JSON` with `{scene, args, change?, controls?, ctxBinary?}`. Prints one line `ready` before, so that
// a test can look at or kill what is there, and one JSON line with the outcome after.

import { commandRequest, controlsOf, launcherOf, type Scene } from "./scene.ts";

interface Order {
  readonly scene: Scene;
  readonly args: Parameters<typeof commandRequest>[1];
  readonly change?: Parameters<typeof commandRequest>[2];
  readonly controls?: Parameters<typeof controlsOf>[1];
  readonly ctxBinary?: string;
}

const order = JSON.parse(process.argv[2] ?? "{}") as Order;
const launcher = launcherOf(order.scene, 8, order.ctxBinary);
console.log("ready");
const outcome = await launcher.run(
  commandRequest(order.scene, order.args, {
    ...order.change,
    controls: controlsOf(order.scene, order.controls),
  }),
  { signal: new AbortController().signal, onOutput: (text) => console.log(JSON.stringify(text)) },
);
console.log(JSON.stringify(outcome));
await launcher.close();
process.exit(0);
