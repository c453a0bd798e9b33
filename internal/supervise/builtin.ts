// The supervisor for hosts without systemd: the launch is a process of its own session, whose parent
// is whoever adopts it once the server is gone. It adds no second place where its state is kept: the
// receipt names the processes and the kernel says whether they live.

import { fail, killGraceMs } from "../abi/mod.ts";
import { identityProgram } from "../bwrap/mod.ts";
import { goneWithin, living, signalStamp } from "./processes.ts";
import type { SupervisedReceipt, Supervisor } from "./types.ts";

const SIGTERM = 15;
const SIGKILL = 9;

/** What a launch may take beyond the grace to end its sandbox and write down how it ended. */
const stopMarginMs = 3000;

/** A killed process is gone in milliseconds; past this it is stuck in the kernel. */
const killedMsMax = 10_000;

/** What is kept of what a launch says on standard error. */
const complaintCharsMax = 4096;

const launchEnvironment = { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" };

export function createBuiltinSupervisor(): Supervisor {
  return {
    name: "builtin",
    async start({ argv, uid, gid, groups }) {
      const own = uid === process.geteuid?.();
      const child = Bun.spawn(
        [...identityProgram(own ? undefined : { uid, gid, groups }), ...argv],
        {
          env: launchEnvironment,
          cwd: "/",
          // A session of its own: neither a hangup nor a signal to the server's group reaches it.
          detached: true,
          stdio: ["ignore", "ignore", "pipe"],
        },
      );
      child.unref();
      return { pid: child.pid, ended: lastWords(child) };
    },
    async stop(receipt) {
      const { launch, root, init } = receipt;
      const all = [launch, root, init];
      // The launch ends its sandbox politely and writes down how it went.
      if (launch !== undefined && signalStamp(launch, SIGTERM)) {
        if (await goneWithin(all, killGraceMs + stopMarginMs)) return;
      }
      for (const stamp of living([init, root, launch])) signalStamp(stamp, SIGKILL);
      if (await goneWithin(all, killedMsMax)) return;
      const pids = living(all).map(({ pid }) => pid);
      fail("EIO", `process ${pids.join(", ")} did not end ${killedMsMax} ms after SIGKILL`);
    },
    alive: async ({ launch, root, init }: SupervisedReceipt) =>
      living([launch, root, init]).length > 0,
  };
}

/** Its pipe is read to the end, so that it never waits for us. */
async function lastWords(child: Bun.Subprocess<"ignore", "ignore", "pipe">): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of child.stderr) {
    if (text.length < complaintCharsMax) text += decoder.decode(bytes, { stream: true });
  }
  await child.exited;
  return text.slice(0, complaintCharsMax).trim();
}
