// `ctx agent chat` in a real terminal: what is typed, stopped and gone on with.

import { afterAll, beforeAll, expect, test } from "bun:test";
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

  constructor(env: Record<string, string> = {}) {
    this.child = Bun.spawn([join(world.dist, "ctx"), "agent", "chat", "coder", "--no-workspace"], {
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
