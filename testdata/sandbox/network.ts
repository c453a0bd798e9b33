// A network with one other machine in it, for one test: two network namespaces joined by a veth
// pair. This process is to be started in a network and mount namespace of its own (`unshare --net
// --mount`), so that all of it is gone with it: `network.ts COMMAND ARG…`. Here is 10.77.0.1; the
// other is 10.77.0.2, is the gateway, and answers on port 8000. On this side a server listens on
// the loopback and on every address, port 8001, which no sandbox may reach.

import { closeSync, openSync } from "node:fs";

function must(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString()}`);
}

const answer =
  "import socket,sys\ns=socket.socket()\ns.setsockopt(1,2,1)\ns.bind(('0.0.0.0',int(sys.argv[1])))\ns.listen(9)\nprint('up',flush=True)\nwhile 1:\n c,a=s.accept(); c.send(sys.argv[2].encode()); c.close()\n";

/** Starts a server and waits until it listens. */
async function serve(prefix: string[], port: string, word: string) {
  const server = Bun.spawn([...prefix, "/usr/bin/python3", "-c", answer, port, word], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  await server.stdout.getReader().read();
  return server;
}

// Debian's /dev/net/tun is open to everybody; the one of this host may not be.
must("mount", "-t", "tmpfs", "-o", "mode=755", "none", "/dev/net");
must("mknod", "-m", "666", "/dev/net/tun", "c", "10", "200");
must("ip", "link", "set", "lo", "up");
const holder = Bun.spawn(["unshare", "--net", "sh", "-c", "echo up; exec sleep 600"], {
  stdin: "ignore",
  stdout: "pipe",
});
await holder.stdout.getReader().read();
const far = `/proc/${holder.pid}/ns/net`;
closeSync(openSync(far, "r"));
const there = ["nsenter", `--net=${far}`];
must("ip", "link", "add", "near", "type", "veth", "peer", "name", "far", "netns", `${holder.pid}`);
must("ip", "address", "add", "10.77.0.1/24", "dev", "near");
must("ip", "link", "set", "near", "up");
must(...there, "ip", "link", "set", "lo", "up");
must(...there, "ip", "address", "add", "10.77.0.2/24", "dev", "far");
must(...there, "ip", "link", "set", "far", "up");
must("ip", "route", "add", "default", "via", "10.77.0.2");
const servers = [
  await serve(there, "8000", "the-other-machine"),
  await serve([], "8001", "the-host-itself"),
];
const child = Bun.spawn(process.argv.slice(2), { stdio: ["ignore", "inherit", "inherit"] });
const status = await child.exited;
for (const each of [...servers, holder]) each.kill("SIGKILL");
process.exit(status);
