// A granted network reaches other machines and nothing of the host; without the grant there is none.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import {
  configurations,
  runDriver,
  startDriver,
  whyNot,
} from "../../testdata/sandbox/configurations.ts";
import type { Scene } from "../../testdata/sandbox/scene.ts";
import { hostProgram } from "../bwrap/mod.ts";
import { descendants } from "../os/mod.ts";

const network = new URL("../../testdata/sandbox/network.ts", import.meta.url).pathname;
const via = ["unshare", "--net", "--mount", process.execPath, network];

function whyNoNetwork(): string | undefined {
  if (!existsSync("/usr/bin/python3")) return "there is no /usr/bin/python3";
  if (hostProgram("pasta") === undefined) return "pasta is not installed";
  if (!existsSync("/dev/net")) return "there is no /dev/net";
  if (process.getuid?.() !== 0) return "needs root to lay a network of its own";
  return whyNot();
}
const missing = whyNoNetwork();
if (missing !== undefined) console.log(`SKIP networks of sandboxes: ${missing}`);

const probe = `
import socket
for host, port in (("10.77.0.2", 8000), ("10.77.0.1", 8001), ("127.0.0.1", 8001), ("10.77.0.2", 8001)):
    try:
        s = socket.create_connection((host, port), timeout=2)
        print(host, port, s.recv(99).decode())
    except OSError as error:
        print(host, port, "refused" if error.errno else "silent")
for family in (17, 40, 38):
    try:
        socket.socket(family, socket.SOCK_RAW)
        print(family, "allowed")
    except OSError as error:
        print(family, error.errno)
print(open("/etc/resolv.conf").read().strip())
`;

for (const configuration of configurations) {
  describe.skipIf(missing !== undefined)(`a granted network (${configuration.name})`, () => {
    let scene: Scene;
    let lines: string[] = [];
    beforeAll(async () => {
      scene = configuration.scene();
      const cmd = ["/usr/bin/python3", "-c", probe];
      const more = { change: { network: true }, via };
      const { output } = await runDriver(configuration, scene, { cmd }, more);
      lines = output.split("\n");
    }, 60_000);
    afterAll(() => rmSync(scene.base, { recursive: true, force: true }));

    test("reaches the other machine", () => {
      expect(lines).toContain("10.77.0.2 8000 the-other-machine");
    });

    test("does not reach the host, by its address, its loopback or the gateway's", () => {
      expect(lines.filter((line) => line.includes("the-host-itself"))).toEqual([]);
      expect(lines.filter((line) => line.includes(" 8001 "))).toHaveLength(3);
    });

    test("allows no packet, vsock or alg socket", () => {
      expect(lines).toContain("17 97");
      expect(lines).toContain("40 97");
      expect(lines).toContain("38 97");
    });

    test("names a resolver that is not the host's", () => {
      expect(lines).toContain("nameserver 169.254.1.1");
    });

    test("leaves no pasta behind", () => {
      expect(pastas()).toEqual([]);
    });

    test("leaves no pasta behind when the server is killed", async () => {
      const cmd = "echo connected; sleep 68.5";
      const child = startDriver(configuration, scene, { cmd }, { change: { network: true }, via });
      const reader = child.stdout.getReader();
      const decoder = new TextDecoder();
      for (let text = ""; !text.includes('"connected'); ) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`the command never ran: ${text}`);
        text += decoder.decode(value);
      }
      expect(pastas()).not.toEqual([]);
      for (const pid of descendants(child.pid).filter(isDriver)) process.kill(pid, "SIGKILL");
      await child.exited;
      const end = performance.now() + 10_000;
      while (pastas().length > 0 && performance.now() < end) await Bun.sleep(10);
      expect(pastas()).toEqual([]);
    });
  });
}

function isDriver(pid: number): boolean {
  return (
    commandOf(`${pid}`).includes("run-command.ts") && !commandOf(`${pid}`).includes("network.ts")
  );
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** The pasta processes that our launches start, by their own option. */
function pastas(): string[] {
  return readdirSync("/proc").filter((name) => {
    const command = /^[0-9]+$/.test(name) ? commandOf(name) : "";
    return command.includes("pasta") && command.includes("/proc/self/fd/3");
  });
}
