// Leaves what a kill at the worst moment leaves: bubblewrap's child, waiting for a parent that is
// gone. `stuck-child.ts MARK` prints the child's pid. It starts a janitor first, as a server does.

import { startJanitor } from "../../internal/bwrap/janitor.ts";
import { hostProgram } from "../../internal/bwrap/mod.ts";
import { pipe } from "../../internal/os/mod.ts";
import { gateScript } from "../../internal/sandbox/mod.ts";

startJanitor();
const [infoRead, infoWrite] = pipe();
const [blocked, _held] = pipe();
const bwrap = hostProgram("bwrap") ?? "bwrap";
const options = ["--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "--info-fd", "3"];
const gate = [
  "/bin/sh",
  "-c",
  gateScript({ descriptor: 5, combined: true }),
  "gate",
  process.argv[2] ?? "",
];
const outer = Bun.spawn([bwrap, ...options, "--userns-block-fd", "4", "--", ...gate], {
  stdio: ["ignore", "ignore", "ignore", infoWrite, blocked],
});
const reader = Bun.file(infoRead).stream().getReader();
let text = "";
while (!text.includes("}")) text += new TextDecoder().decode((await reader.read()).value);
outer.kill("SIGKILL");
await outer.exited;
console.log(JSON.parse(text)["child-pid"]);
setInterval(() => {}, 1000);
