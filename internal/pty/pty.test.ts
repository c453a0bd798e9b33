import { describe, expect, test } from "bun:test";
import { openPty, type PtyExit } from "./mod.ts";

/** Runs shell text in a pseudo-terminal to its end. */
async function run(
  script: string,
  typed: readonly string[] = [],
): Promise<{ output: string; end: PtyExit }> {
  const parts: Uint8Array[] = [];
  const waiting = [...typed];
  const next = () => {
    const line = waiting.shift();
    if (line !== undefined) pty.write(new TextEncoder().encode(line));
  };
  const pty = openPty({
    command: ["/bin/sh", "-c", script],
    env: { PATH: "/usr/bin:/bin" },
    cols: 91,
    rows: 23,
    onData(bytes) {
      const first = parts.push(bytes) === 1;
      if (first) next();
    },
    onWritten: next,
  });
  const end = await pty.ended;
  return { output: Buffer.concat(parts).toString(), end };
}

describe("a pseudo-terminal", () => {
  test("is the controlling terminal of its child, in the size that was asked", async () => {
    const { output, end } = await run("tty -s && stty size; ps -o tpgid=,pgid= -p $$ | xargs");
    expect(end).toEqual({ status: 0, signal: 0 });
    const [size, groups] = output.split("\r\n");
    expect(size).toBe("23 91");
    const [foreground, own] = (groups ?? "").split(" ");
    expect(foreground).toBe(own as string);
  });

  test("gives all output before its end, and how it ended", async () => {
    const flood = await run("head -c 3000000 /dev/zero | tr '\\0' x; exit 7");
    expect(flood.output.length).toBe(3_000_000);
    expect(flood.end).toEqual({ status: 7, signal: 0 });
    const begun = performance.now();
    const killed = await run("kill -9 $$");
    // The end of the output is noticed and not waited out.
    expect(performance.now() - begun).toBeLessThan(900);
    expect(killed.end).toEqual({ status: 137, signal: 9 });
  });

  test("ends soon after its child, with all of its output, when others hold the terminal open", async () => {
    const begun = performance.now();
    const holds = "trap '' HUP; sleep 600 & echo $!";
    const { output, end } = await run(`${holds}; head -c 300000 /dev/zero | tr '\\0' x; exit 3`);
    const [pid, rest] = output.split("\r\n");
    process.kill(Number(pid), "SIGKILL");
    expect(rest).toHaveLength(300_000);
    expect(end).toEqual({ status: 3, signal: 0 });
    expect(performance.now() - begun).toBeLessThan(900);
  });

  test("lets its child wait while it is held, and loses nothing by it", async () => {
    let bytes = 0;
    const pty = openPty({
      command: ["/bin/sh", "-c", "stty raw; head -c 3000000 /dev/zero; echo end"],
      env: { PATH: "/usr/bin:/bin" },
      ...{ cols: 80, rows: 24 },
      onData(chunk) {
        const isFirst = bytes === 0;
        bytes += chunk.length;
        if (isFirst) pty.hold(true);
      },
      onWritten() {},
    });
    const isOver = pty.ended.then(() => true);
    expect(await Promise.race([isOver, Bun.sleep(200)])).toBeUndefined();
    const held = bytes;
    expect(held).toBeLessThan(3_000_000);
    pty.hold(false);
    await pty.ended;
    expect(bytes).toBe(3_000_004);
  });

  test("takes writes in order and says when each is taken", async () => {
    const { output } = await run("stty -echo; echo; read a; read b; echo $b-$a", [
      "one\n",
      "two\n",
    ]);
    expect(output).toContain("two-one");
  });

  test("of a program that is not there says so by name", () => {
    const missing = () =>
      openPty({
        ...{ command: ["/nonexistent/program"], cols: 80, rows: 24 },
        ...{ onData: () => {}, onWritten: () => {} },
      });
    expect(missing).toThrow(`cannot start "/nonexistent/program"`);
  });
});
