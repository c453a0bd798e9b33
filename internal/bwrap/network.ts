// A network for one sandbox: pasta or slirp4netns joins the sandbox's own network namespace, so that
// the host's loopback and abstract sockets stay out of reach. It runs as the agent, never as more.

import { closeSync, openSync, readFileSync } from "node:fs";
import { fail } from "../abi/mod.ts";
import { owningUserNamespace, type ProcessStamp } from "../os/mod.ts";
import { hostProgram } from "./programs.ts";
import { type Identity, identityProgram } from "./setpriv.ts";

export interface NetworkProgram {
  readonly name: "pasta" | "slirp4netns";
  readonly path: string;
  /** Where a program inside finds its resolver. */
  readonly resolver: string;
}

/** Until the namespace has a default route. Past it ETIMEDOUT. */
const routeMsMax = 10_000;
const pollMs = 5;

/** An address that pasta answers for with the host's resolver; link-local, so never a real host. */
const pastaResolver = "169.254.1.1";

/** pasta when it is there, else slirp4netns. Throws EHOSTDOWN with the packages otherwise. */
export function networkProgram(): NetworkProgram {
  const pasta = hostProgram("pasta");
  if (pasta !== undefined) return { name: "pasta", path: pasta, resolver: pastaResolver };
  const slirp = hostProgram("slirp4netns");
  if (slirp !== undefined) return { name: "slirp4netns", path: slirp, resolver: "10.0.2.3" };
  return fail("EHOSTDOWN", "cannot give a network: neither pasta nor slirp4netns is installed", {
    hint: "apt-get install passt, or apt-get install slirp4netns",
  });
}

export interface AttachedNetwork {
  stop(): Promise<void>;
}

/** Resolves when programs inside can reach the network. */
export async function attachNetwork(
  program: NetworkProgram,
  init: ProcessStamp,
  identity: Identity | undefined,
): Promise<AttachedNetwork> {
  const network = openSync(`/proc/${init.pid}/ns/net`, "r");
  let user: number | undefined;
  let child: Bun.Subprocess;
  try {
    user = owningUserNamespace(network);
    const command = [...identityProgram(identity, { pdeathsig: true }), program.path];
    child = Bun.spawn([...command, ...networkArguments(program, identity)], {
      env: {},
      cwd: "/",
      stdio: ["ignore", "ignore", "ignore", user, network],
    });
  } finally {
    closeSync(network);
    if (user !== undefined) closeSync(user);
  }
  try {
    await defaultRoute(program, init, child);
  } catch (error) {
    await stopped(child);
    throw error;
  }
  return { stop: () => stopped(child) };
}

function networkArguments(program: NetworkProgram, identity: Identity | undefined): string[] {
  const [user, network] = ["/proc/self/fd/3", "/proc/self/fd/4"];
  if (program.name === "slirp4netns") {
    const flags = ["--configure", "--mtu=65520", "--disable-host-loopback", "--netns-type=path"];
    return [...flags, `--userns-path=${user}`, network, "tap0"];
  }
  return [
    ...["--foreground", "--quiet", "--config-net", "--userns", user, "--netns", network],
    // No port leads in, and none to the host's loopback, which the gateway's address would be.
    ...["-t", "none", "-u", "none", "-T", "none", "-U", "none", "--no-map-gw"],
    ...["--dns-forward", program.resolver],
    ...(identity?.uid === 0 ? ["--runas", "0"] : []),
  ];
}

async function defaultRoute(
  program: NetworkProgram,
  init: ProcessStamp,
  child: Bun.Subprocess,
): Promise<void> {
  const until = performance.now() + routeMsMax;
  while (!hasRoute(init.pid)) {
    if (child.exitCode !== null || child.signalCode !== null) {
      fail("EHOSTDOWN", `cannot give a network: ${program.name} ended by itself`, {
        hint: "see that the host has a default route and that /dev/net/tun has mode 0666",
      });
    }
    if (performance.now() > until) {
      fail("ETIMEDOUT", `${program.name} made no route in ${routeMsMax} ms`);
    }
    await Bun.sleep(pollMs);
  }
}

function hasRoute(pid: number): boolean {
  const table = (file: string) => {
    try {
      return readFileSync(`/proc/${pid}/net/${file}`, "utf8").split("\n");
    } catch {
      return [];
    }
  };
  const ipv4 = table("route").some((line) => /^\S+\t00000000\t/.test(line));
  return ipv4 || table("ipv6_route").some((line) => /^0{32} 00 (?!.* lo$)/.test(line));
}

async function stopped(child: Bun.Subprocess): Promise<void> {
  child.kill(9);
  await child.exited;
}
