// `watch` and `attach` as a person has them: the program in a real pseudo-terminal, against a small
// server of the framed protocol.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chownSync, existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { processFacts } from "../../internal/os/mod.ts";
import { ownerUid, Place } from "../../testdata/cli/program.ts";
import { type Client, TerminalServer } from "../../testdata/cli/terminal-server.ts";

setDefaultTimeout(60_000);

const place = new Place();
const servers: TerminalServer[] = [];
const people: Person[] = [];
afterAll(async () => {
  for (const person of people) await person.end();
  for (const server of servers) server.stop();
  place.remove();
});
beforeAll(() => place.bootstrap());

/** The terminal of a session of agent coder, listening in the runtime folder. */
function serve(session: string): TerminalServer {
  const group = process.getuid?.() === 0 ? `terminal/${ownerUid}` : "terminal";
  const folder = join(place.env["CTX_RUNTIME_DIR"] as string, group, "coder", session);
  const server = new TerminalServer(folder);
  for (let at = server.path; at !== place.base; at = dirname(at)) chownSync(at, ownerUid, ownerUid);
  servers.push(server);
  return server;
}

/** A shell in a pseudo-terminal that runs one command and then says how it ended and what is left. */
class Person {
  screen = "";
  readonly #child: Bun.Subprocess;
  #changed = Promise.withResolvers<void>();

  constructor(argv: readonly string[], options: { cols?: number; rows?: number } = {}) {
    const main = join(import.meta.dir, "main.ts");
    const script = [
      'stty -a > "$0.before"; "$@"; echo "ended with $?"',
      // A process that was killed leaves the putting back to another one.
      "until stty -a | grep -q ' icanon'; do sleep 0.01; done; stty -a > \"$0.after\"",
      'read -r line; echo "read $line"',
    ].join("\n");
    const at = join(place.work, crypto.randomUUID());
    this.file = at;
    this.#child = Bun.spawn(["bash", "-c", script, at, process.execPath, main, ...argv], {
      env: { ...place.env, TERM: "xterm-256color" },
      cwd: place.work,
      terminal: {
        cols: options.cols ?? 90,
        rows: options.rows ?? 30,
        data: (_terminal, bytes) => {
          this.screen += Buffer.from(bytes).toString("latin1");
          this.#changed.resolve();
          this.#changed = Promise.withResolvers();
        },
      },
    });
    people.push(this);
  }

  readonly file: string;

  type(text: string): void {
    this.#child.terminal?.write(text);
  }

  resize(cols: number, rows: number): void {
    this.#child.terminal?.resize(cols, rows);
  }

  async sees(text: string): Promise<void> {
    while (!this.screen.includes(text)) await this.#changed.promise;
  }

  /** Pid of the program itself. */
  get program(): number {
    const { pid } = this.#child;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ")[0]);
  }

  /** Exit status of the command, when its terminal is the shell's again. */
  async ended(): Promise<number> {
    await this.sees("ended with ");
    while (!existsSync(`${this.file}.after`)) await Bun.sleep(5);
    this.type("line\r");
    await this.sees("read line");
    await this.#child.exited;
    const [before, after] = [await this.#modes("before"), await this.#modes("after")];
    expect(after).toBe(before);
    return Number(/ended with (\d+)/.exec(this.screen)?.[1]);
  }

  async #modes(when: string): Promise<string> {
    // The first line has the size.
    return (await Bun.file(`${this.file}.${when}`).text()).replace(/^.*\n/, "");
  }

  async end(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.exited;
    this.#child.terminal?.close();
  }
}

const bytes = (text: string) => new TextEncoder().encode(text);

async function joinedBy(server: TerminalServer, lines = 1): Promise<Client> {
  await server.until(() => (server.clients[0]?.said.length ?? 0) >= lines);
  return server.clients[0] as Client;
}

/** Attaches, and a screen with everything on that a shell does not expect is shown. */
async function attached(session: string, ...more: string[]) {
  const server = serve(session);
  const person = new Person(["agent", "attach", "coder", "--session", session, ...more]);
  const client = await joinedBy(server);
  const data = bytes("\x1b[?1049h\x1b[?1003h\x1b[?2004h\x1b[?25l\x1b[31mhello");
  client.send({ type: "snapshot", approximate: false, cols: 90, rows: 30, data });
  await person.sees("hello");
  return { server, person, client };
}

/** What follows the last thing shown must turn everything off again. */
function expectReset(person: Person): void {
  const after = person.screen.slice(person.screen.lastIndexOf("hello"));
  const modes = [
    "?1047l",
    "?1003l",
    "?2004l",
    "?25h",
    "0m",
    "?5l",
    "?1007l",
    "?2031l",
    ">4m",
    "<99u",
  ];
  for (const one of modes) expect(after).toContain(`\x1b[${one}`);
  expect(after.match(/\x1b\]1\d\d\x1b/g)).toBeNull();
}

describe("ctx agent attach", () => {
  test("shows, passes keys and Ctrl-C on, tells sizes, and leaves by Ctrl-\\ twice", async () => {
    const { server, person, client } = await attached("one");
    expect(client.mode).toBe("attach/1");
    person.type("ls\x03\x1a");
    await server.until(() => client.said.length >= 2);
    person.resize(100, 40);
    await server.until(() => client.said.length >= 3);
    expect(client.said).toEqual(["R 90x30", "D ls\x03\x1a", "R 100x40"]);
    person.type("\x1c\x1c");
    expect(await person.ended()).toBe(0);
    await client.left;
    expect(client.said.length).toBe(3);
    expectReset(person);
    expect(person.screen).toContain("left, it goes on; join again with ctx agent attach coder");
  });

  test("passes one Ctrl-\\ on after a while, and leaves by other keys when told so", async () => {
    const { server, person, client } = await attached("two", "--detach-key", "^A d");
    person.type("\x1c\x1c\x01");
    await server.until(() => client.said.at(-1) === "D \x1c\x1c\x01");
    person.type("\x01d");
    expect(await person.ended()).toBe(0);
  });

  test.each([
    ["status 7", { status: 7, signal: 0 }, "ended with status 7"],
    ["SIGKILL", { status: 137, signal: 9 }, "ended by SIGKILL"],
  ])("ends as the program inside did: %s", async (_name, end, text) => {
    const { person, client } = await attached(`exit-${end.status}`);
    client.send({ type: "data", data: bytes("last words") });
    client.send({ type: "exit", ...end });
    expect(await person.ended()).toBe(end.status);
    expect(person.screen).toContain("last words");
    expect(person.screen).toContain(text);
    expectReset(person);
  });

  test("says why it was dropped, or that the other side went away", async () => {
    const dropped = await attached("dropped");
    dropped.client.send({ type: "error", code: "slow_consumer", message: "not read for 1 s" });
    expect(await dropped.person.ended()).toBe(69);
    expect(dropped.person.screen).toContain(
      "let go of this client: not read for 1 s [slow_consumer]",
    );
    const lost = await attached("lost");
    lost.client.end();
    expect(await lost.person.ended()).toBe(69);
    expect(lost.person.screen).toContain("went away with nothing said [EHOSTDOWN]");
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGINT", 130],
    ["SIGQUIT", 131],
    ["SIGKILL", 137],
    ["SIGSEGV", 139],
  ] as const)("puts the terminal back after %s", async (signal, status) => {
    const { person } = await attached(signal.toLowerCase());
    process.kill(person.program, signal);
    expect(await person.ended()).toBe(status);
    expectReset(person);
  });

  test.each(["SIGTERM", "SIGKILL"] as const)(
    "gives changed colours back after %s",
    async (signal) => {
      const { person, client } = await attached(`colours-${signal}`);
      client.send({ type: "data", data: bytes("\x1b]11;#00ff00\x07coloured") });
      await person.sees("coloured");
      process.kill(person.program, signal);
      await person.ended();
      const after = person.screen.slice(person.screen.lastIndexOf("coloured"));
      for (const one of [104, 110, 111, 112]) expect(after).toContain(`\x1b]${one}\x1b\\`);
    },
  );

  test("gives the terminal back while it is stopped, and joins anew when it goes on", async () => {
    const { server, person, client } = await attached("stopped");
    const program = person.program;
    process.kill(program, "SIGTSTP");
    await person.sees("\x1b[?1047l");
    while (processFacts(program)?.state !== "T") await Bun.sleep(5);
    process.kill(program, "SIGCONT");
    await server.until(() => (server.clients[1]?.said.length ?? 0) > 0);
    await client.left;
    person.type("ls");
    await server.until(() => server.clients[1]?.said.at(-1) === "D ls");
    person.type("\x1c\x1c");
    expect(await person.ended()).toBe(0);
  });

  test("refuses without a terminal and without a listener, and says what to do", async () => {
    const piped = await place.ctx("agent", "attach", "coder");
    expect(piped.exit).toBe(2);
    expect(piped.err).toContain("attach needs a terminal as standard input and output [EINVAL]");
    const nobody = new Person(["agent", "attach", "coder", "--session", "none"]);
    expect(await nobody.ended()).toBe(69);
    expect(nobody.screen).toContain("hint: start it with ctx agent start coder --session none");
  });
});

describe("ctx agent watch", () => {
  test("shows, sends nothing that is typed, and leaves by Ctrl-C", async () => {
    const server = serve("watched");
    const person = new Person(["agent", "watch", "coder", "--session", "watched"]);
    await server.until(() => server.clients[0]?.mode === "watch/1");
    const client = server.clients[0] as Client;
    client.send({ type: "snapshot", approximate: false, cols: 80, rows: 24, data: bytes("hello") });
    await person.sees("hello");
    person.type("rm -rf x\r");
    person.type("\x03");
    expect(await person.ended()).toBe(130);
    await client.left;
    expect(client.said).toEqual([]);
    expectReset(person);
  });

  test("passes the bytes on in a pipe, and prints frames as JSON", async () => {
    const server = serve("piped");
    const watch = (...more: string[]) =>
      place.run(["ctx", "agent", "watch", "coder", "--session", "piped", ...more]);
    for (const [index, more] of [[], ["--json"]].entries()) {
      const running = watch(...more);
      await server.until(() => server.clients[index]?.mode === "watch/1");
      const client = server.clients[index] as Client;
      client.send({
        type: "snapshot",
        approximate: true,
        cols: 80,
        rows: 24,
        data: bytes("\x1b[Hsnap"),
      });
      client.send({ type: "data", data: bytes("more") });
      client.send({ type: "exit", status: 3, signal: 0 });
      const { exit, out } = await running;
      expect(exit).toBe(3);
      if (index === 0) expect(out).toBe("\x1b[Hsnapmore");
      else {
        expect(
          out
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line)),
        ).toEqual([
          { type: "snapshot", approximate: true, cols: 80, rows: 24, data: btoa("\x1b[Hsnap") },
          { type: "data", data: btoa("more") },
          { type: "exit", status: 3, signal: 0 },
        ]);
      }
    }
  });
});
