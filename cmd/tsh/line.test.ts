// A person at tsh's prompt, in a real pseudo-terminal, judged by what an emulator shows.

import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Terminal } from "@xterm/headless";
import { Place } from "../../testdata/cli/program.ts";

setDefaultTimeout(60_000);

const place = new Place();
const people: Person[] = [];
beforeAll(() => place.bootstrap());
afterAll(async () => {
  for (const person of people) await person.leave();
  place.remove();
});

class Person {
  readonly screen: Terminal;
  raw = "";
  readonly #child: Bun.Subprocess;
  #changed = Promise.withResolvers<void>();

  constructor(cols: number, rows: number, home = "home", env: Record<string, string> = {}) {
    this.screen = new Terminal({ cols, rows, allowProposedApi: true });
    this.#child = Bun.spawn([process.execPath, join(import.meta.dir, "main.ts")], {
      cwd: place.work,
      env: { ...place.env, HOME: join(place.base, home), CTX_AGENT: undefined, ...env },
      terminal: { cols, rows, data: (_terminal, bytes) => this.#take(bytes) },
    });
    people.push(this);
  }

  #take(bytes: Uint8Array): void {
    this.raw += Buffer.from(bytes).toString();
    this.screen.write(bytes.slice(), () => {
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    });
  }

  type(text: string): void {
    this.#child.terminal?.write(text);
  }

  resize(cols: number, rows: number): void {
    this.screen.resize(cols, rows);
    this.#child.terminal?.resize(cols, rows);
  }

  /** Hundredths of a second of processor time so far. */
  get cpuTicks(): number {
    const stat = readFileSync(`/proc/${this.#child.pid}/stat`, "utf8");
    const [user, system] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13);
    return Number(user) + Number(system);
  }

  /** Rows that are not empty. */
  get rows(): string[] {
    const { active } = this.screen.buffer;
    const all = Array.from({ length: active.length }, (_, row) => active.getLine(row));
    const rows = all.map((line) => line?.translateToString(true).trimEnd() ?? "");
    return rows.filter((text) => text !== "");
  }

  /** All of them as one, without the spaces at their ends. */
  get text(): string {
    return this.rows.join("");
  }

  /** The last row in full, and where the cursor stands in it. */
  get last(): readonly [string | undefined, number] {
    return [this.rows.at(-1), this.screen.buffer.active.cursorX];
  }

  async until(what: string, look: () => boolean): Promise<void> {
    const late = Bun.sleep(20_000).then(() => "late");
    while (!look()) {
      const news = await Promise.race([this.#changed.promise, late]);
      if (news === "late") throw new Error(`never came: ${what}, in\n${this.rows.join("\n")}`);
    }
  }

  /** Its exit status, which is that of the last command. */
  async leave(): Promise<number> {
    if (this.#child.terminal?.closed !== false) return this.#child.exited;
    this.type("\x03\x15exit\r");
    const exit = await this.#child.exited;
    this.#child.terminal?.close();
    return exit;
  }
}

/** Where a row was broken at a space, nobody can tell. */
const squeezed = (text: string) => text.replaceAll(" ", "");

/** What the prompt looks like there. */
const prompt = `tsh:${place.work}> `;

async function seated(cols: number, rows: number, home?: string): Promise<Person> {
  const person = new Person(cols, rows, home);
  await person.until("a prompt", () => person.text.endsWith(prompt.trimEnd()));
  return person;
}

describe("a line", () => {
  test("with wide and combining characters is edited cell by cell", async () => {
    const person = await seated(80, 10);
    person.type("say 漢字 e\u0301x");
    await person.until("the text", () => person.rows.at(-1) === `${prompt}say 漢字 e\u0301x`);
    expect(person.last[1]).toBe(prompt.length + 4 + 4 + 1 + 2);
    // Left over x, é and the space; the wide one before it goes with one key.
    person.type("\x1b[D\x1b[D\x1b[D\x7f");
    await person.until("the cut", () => person.rows.at(-1) === `${prompt}say 漢 e\u0301x`);
    expect(person.last[1]).toBe(prompt.length + 6);
    expect(await person.leave()).toBe(0);
  });

  test("of several rows is redrawn whole, also in a terminal of another size", async () => {
    const person = await seated(30, 12);
    const text = "abcdefghij".repeat(8);
    person.type(text);
    await person.until("all of it", () => squeezed(person.text).endsWith(squeezed(prompt + text)));
    person.resize(21, 12);
    await person.until(
      "the new width",
      () =>
        person.rows.every((row) => row.length <= 21) &&
        squeezed(person.text).endsWith(squeezed(prompt + text)),
    );
    person.type("\x01X\x05Y");
    await person.until("both ends", () =>
      squeezed(person.text).endsWith(squeezed(`${prompt}X${text}Y`)),
    );
    expect(squeezed(person.text)).toContain(squeezed(`${prompt}X${text}Y`));
    person.resize(60, 12);
    person.type("\x7f");
    await person.until("the old width", () =>
      squeezed(person.text).endsWith(squeezed(`${prompt}X${text}`)),
    );
    expect(await person.leave()).toBe(0);
  });

  test("that is longer than the terminal shows what is around the cursor", async () => {
    const person = await seated(40, 6);
    person.type(`${"x".repeat(20_000)}end`);
    await person.until("its end", () => person.rows.at(-1)?.endsWith("xend") === true);
    person.type("\x01");
    await person.until("its start", () => squeezed(person.text).includes(squeezed(`${prompt}xx`)));
    person.type("\x15\x05");
    expect(await person.leave()).toBe(0);
  });

  test("is completed, and a paste of many lines waits for Enter", async () => {
    const person = await seated(100, 20);
    person.type("help fs.rea\t");
    await person.until("the name", () => person.rows.at(-1) === `${prompt}help fs.read`);
    person.type("\r");
    await person.until("its text", () => person.rows.some((row) => row.startsWith("Input:")));
    person.type("\x1b[200~which fs.list\r\nwhich fs.stat\n\x1b[201~");
    await person.until("both", () => person.rows.at(-1) === "which fs.stat");
    expect(person.raw).not.toContain(`${place.source}/tool/fs.stat`);
    person.type("\r");
    await person.until("both answers", () => person.raw.includes(`${place.source}/tool/fs.stat`));
    expect(person.raw).toContain(`${place.source}/tool/fs.list`);
    expect(await person.leave()).toBe(0);
  });

  test("left open, given up or refused leads to the next prompt", async () => {
    const person = await seated(100, 30);
    person.type("fs.read 'a\r");
    await person.until("why", () =>
      person.raw.includes("not closed, at line 1, column 9 [EINVAL]"),
    );
    person.type("half\x03fs.read x\r");
    await person.until("the refusal", () =>
      person.raw.includes("this is not an agent's terminal [EACCES]"),
    );
    expect(person.rows).toContain(`${prompt}half^C`);
    await person.until("its status", () => person.raw.includes("\x1b]133;D;13\x07"));
    expect(await person.leave()).toBe(13);
  });
});

describe("earlier lines", () => {
  test("are found again by the next shell, in a file for its owner alone", async () => {
    mkdirSync(join(place.base, "mine"));
    const first = await seated(80, 20, "mine");
    first.type("which fs.read\r loads\r");
    await first.until("an answer", () => first.raw.includes("\x1b]133;D;13\x07"));
    expect(await first.leave()).toBe(13);
    const file = join(place.base, "mine/.tsh_history");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, "utf8")).toBe('"which fs.read"\n"exit"\n');
    const second = await seated(80, 20, "mine");
    second.type("\x12whi");
    await second.until("the line", () => second.rows.at(-1)?.endsWith("which fs.read") === true);
    second.type("\x07\x10\x10");
    await second.until("the same", () => second.rows.at(-1) === `${prompt}which fs.read`);
    expect(await second.leave()).toBe(0);
  });
});

test("a shell that waits for its person and for a host that is gone uses no processor", async () => {
  const person = new Person(80, 10, "home", { CTX_CONTROL_SOCKET: join(place.base, "no.sock") });
  await person.until("a prompt", () => person.text.endsWith("> ".trimEnd()));
  const before = person.cpuTicks;
  // What it uses in this time is what is measured; nothing is waited for.
  await Bun.sleep(500);
  expect(person.cpuTicks - before).toBeLessThan(6);
  expect(await person.leave()).toBe(0);
});
