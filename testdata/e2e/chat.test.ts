// `ctx agent chat` in a real terminal: what is typed, stopped and gone on with.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { World } from "./world.ts";

const world = new World();

beforeAll(async () => {
  await world.bootstrap();
  await world.run(["ctx", "set", "agent/coder.d/model", "debug/script"]);
  await world.serve();
});
afterAll(() => world.destroy());

class Chat {
  #shown = "";
  #wake: (() => void) | undefined;
  readonly child: Bun.Subprocess;

  constructor(env: Record<string, string> = {}, args: readonly string[] = ["--no-workspace"]) {
    this.child = Bun.spawn([join(world.dist, "ctx"), "agent", "chat", "coder", ...args], {
      cwd: world.workspace,
      env: { ...world.env, TERM: "xterm", NO_COLOR: "1", ...env },
      terminal: {
        cols: 80,
        rows: 24,
        data: (_terminal, bytes) => {
          this.#shown += new TextDecoder().decode(bytes);
          this.#wake?.();
        },
      },
    });
  }

  type(text: string): void {
    this.child.terminal?.write(text);
  }

  /** Waits until the terminal has shown `text`, and forgets what came before its end. */
  async until(text: string): Promise<void> {
    while (!this.#shown.includes(text)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
    this.#shown = this.#shown.slice(this.#shown.indexOf(text) + text.length);
  }
}

test("a line can be edited, and Ctrl-D leaves with 0", async () => {
  const chat = new Chat();
  await chat.until("coder> ");
  chat.type("@say wrold\x7f\x7f\x7f\x7forld!\r");
  await chat.until("\nworld!");
  await chat.until("coder> ");
  chat.type("\x04");
  expect(await chat.child.exited).toBe(0);
});

test("Ctrl-C cancels a run and the chat goes on; idle it leaves", async () => {
  const chat = new Chat();
  await chat.until("coder> ");
  chat.type('@call shell.exec {"cmd":"echo begun; sleep 60"}\r');
  await chat.until("  | begun");
  chat.type("\x03");
  await chat.until("\ncancelled");
  await chat.until("coder> ");
  chat.type("@say still here\r");
  await chat.until("\nstill here");
  await chat.until("coder> ");
  chat.type("\x03");
  expect(await chat.child.exited).toBe(0);
});

test("after a stop by Ctrl-Z it reads on", async () => {
  const chat = new Chat();
  await chat.until("coder> ");
  chat.type("\x1a");
  // Alone in its session it is not really stopped, but has prepared for it: the terminal echoes.
  const going = setInterval(() => chat.child.kill("SIGCONT"), 20);
  await chat.until("coder> ");
  clearInterval(going);
  chat.type("@say back\r");
  await chat.until("\nback");
  chat.type("\x04");
  expect(await chat.child.exited).toBe(0);
});

test("a dumb terminal has the kernel's line editing", async () => {
  const chat = new Chat({ TERM: "dumb" });
  await chat.until("coder> ");
  chat.type("@say hxx\x7f\x7fallo\r");
  await chat.until("\nhallo");
  await chat.until("coder> ");
  chat.type("\x04");
  expect(await chat.child.exited).toBe(0);
});

describe("a call that asks for approval", () => {
  beforeAll(() => {
    writeFileSync(join(world.source, "agent/coder.d/approval"), "ask\n");
    writeFileSync(notes, "one\ntwo\nthree\n");
  });
  afterAll(() => rmSync(join(world.source, "agent/coder.d/approval")));
  const notes = join(world.workspace, "notes.md");
  const made = (name: string) => existsSync(join(world.workspace, name));
  const write = '@call fs.write {"path":"notes.md","content":"one\\nTWO\\nthree\\n"}\r';

  test("is shown as a diff, denied with a reason, then allowed once", async () => {
    const chat = new Chat({}, []);
    await chat.until("coder> ");
    chat.type(write);
    await chat.until("coder asks to run fs.write in /workspace");
    for (const line of ['path: "notes.md"', "--- a/notes.md", "| -two", "| +TWO"]) {
      await chat.until(line);
    }
    await chat.until("allow once?");
    chat.type("maybe\r");
    await chat.until("allow once?");
    chat.type("no keep it small\r");
    await chat.until("fs.write failed");
    await chat.until("keep it small");
    expect(readFileSync(notes, "utf8")).toBe("one\ntwo\nthree\n");
    await chat.until("coder> ");
    chat.type(write);
    await chat.until("allow once?");
    chat.type("y\r");
    await chat.until("fs.write ok");
    expect(readFileSync(notes, "utf8")).toBe("one\nTWO\nthree\n");
    await chat.until("coder> ");
    chat.type("\x04");
    expect(await chat.child.exited).toBe(0);
  });

  test("is shown with its command, escaped, and Ctrl-C denies it and cancels the run", async () => {
    const chat = new Chat({}, []);
    await chat.until("coder> ");
    chat.type('@call shell.exec {"cmd":"touch made \\u001b[2J # \\u202e"}\r');
    await chat.until("| touch made \\x1b[2J # \\u202e");
    await chat.until("allow once?");
    chat.type("\x03");
    await chat.until("\ncancelled");
    await chat.until("coder> ");
    expect(made("made")).toBe(false);
    chat.type("\x04");
    expect(await chat.child.exited).toBe(0);
  });

  test("is not answered by what was typed before it, and asks again when its file changed", async () => {
    const chat = new Chat({}, []);
    await chat.until("coder> ");
    chat.type(`${write}y\ry`);
    await chat.until("allow once?");
    writeFileSync(notes, "changed\n");
    chat.type("y\r");
    await chat.until("the file was changed meanwhile");
    await chat.until("| -changed");
    await chat.until("allow once?");
    chat.type("n\r");
    await chat.until("fs.write failed");
    expect(readFileSync(notes, "utf8")).toBe("changed\n");
    await chat.until("coder> ");
    chat.child.kill("SIGKILL");
    await chat.child.exited;
  });

  test("is not answered by what is typed while it is still being made ready to be shown", async () => {
    const long = Array.from({ length: 120_000 }, (_, index) => `line ${index}\n`).join("");
    writeFileSync(notes, long);
    const chat = new Chat({}, []);
    await chat.until("coder> ");
    chat.type(write);
    await chat.until("> fs.write");
    const typing = setInterval(() => chat.type("y\r"), 30);
    await chat.until("coder asks to run fs.write");
    clearInterval(typing);
    await chat.until("lines, more than this window shows at once");
    await chat.until("allow once?");
    chat.type("n\r");
    await chat.until("fs.write failed");
    expect(readFileSync(notes, "utf8")).toBe(long);
    chat.child.kill("SIGKILL");
    await chat.child.exited;
    writeFileSync(notes, "one\n");
  }, 60_000);

  test("is shown again when the window became narrower meanwhile", async () => {
    const chat = new Chat({}, []);
    await chat.until("coder> ");
    chat.type(`@call shell.exec ${JSON.stringify({ cmd: `touch seen; : ${"x".repeat(60)}` })}\r`);
    await chat.until("allow once?");
    chat.child.terminal?.resize(40, 24);
    chat.type("y\r");
    await chat.until("the window is narrower now:");
    await chat.until("  : xxxx");
    await chat.until("allow once?");
    expect(made("seen")).toBe(false);
    chat.type("y\r");
    await chat.until("shell.exec ok");
    expect(made("seen")).toBe(true);
    chat.child.kill("SIGKILL");
    await chat.child.exited;
  });

  test("is denied where there is no terminal", async () => {
    const chat = await world.run(["ctx", "agent", "chat", "coder"], {
      input: '@call shell.exec {"cmd":"touch piped"}\n',
    });
    expect(chat.stderr).toContain("no terminal to ask on");
    expect(made("piped")).toBe(false);
  });

  test("of ctx agent send is allowed where --approve lists it, and denied at once else", async () => {
    const input =
      '@call shell.exec {"cmd":"touch listed"}\n@call fs.write {"path":"other","content":""}\n@result';
    const send = (...more: string[]) =>
      world.run(["ctx", "agent", "send", "coder", "--session", "listed", ...more, input]);
    const listed = await send("--approve", "fs.read", "--approve", "shell.exec");
    expect(listed.exit).toBe(0);
    expect(listed.stderr).toContain("denied fs.write: it asks for approval");
    expect(listed.stderr).toContain("--approve fs.write");
    expect([made("listed"), made("other")]).toEqual([true, false]);
    const closed = await world.run([
      ...["ctx", "agent", "send", "coder", "--session", "listed"],
      '@call shell.exec {"cmd":"touch closed"}\n@result',
    ]);
    expect(closed.stderr).toContain("--approve shell.exec");
    expect(closed.stdout).toContain("nobody was asked");
    expect(made("closed")).toBe(false);
  });
});
