import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Place } from "../../testdata/cli/program.ts";
import { objectOf } from "./exec.ts";

setDefaultTimeout(120_000);

const place = new Place();
beforeAll(() => place.bootstrap());
afterAll(() => place.remove());

const object = (path: string) => join(place.source, path);

describe("ctx exec", () => {
  test("class and name come from the path alone", () => {
    expect(objectOf("/ctx/tool/fs.read")).toEqual({ class: "tool", name: "fs.read" });
    expect(objectOf("/a/agent/coder")).toEqual({ class: "agent", name: "coder" });
    expect(objectOf("/a/model/debug/echo")).toEqual({ class: "model", name: "debug/echo" });
    expect(objectOf("/a/model/main")).toEqual({ class: "model", name: "main" });
    expect(objectOf("/etc/passwd")).toBeUndefined();
  });

  test("the native protocol takes one object and answers one line", async () => {
    writeFileSync(join(place.work, "a.txt"), "hello\n");
    const run = (input: string) =>
      place.run(["ctx", "exec", object("tool/fs.read")], {
        input,
        env: { CTX_TOOL_MODE: "native" },
      });
    expect(await run('{"path":"a.txt"}\n')).toEqual({
      exit: 0,
      out: '{"type":"result","status":"ok","content":"hello\\n"}\n',
      err: "",
    });
    for (const [input, code] of [
      ['{"path":"none"}', "ENOENT"],
      ["[]", "EINVAL"],
      ["{", "EINVAL"],
    ] as const) {
      const { exit, out } = await run(`${input}\n`);
      expect([input, exit, JSON.parse(out)]).toEqual([
        input,
        0,
        { type: "result", status: "error", code, content: expect.stringContaining(`[${code}]`) },
      ]);
    }
  });

  test("a person gives words or an object and gets plain text", async () => {
    for (const input of [["a.txt"], ['{"path":"a.txt","line_start":1}']]) {
      expect((await place.ctx("exec", object("tool/fs.read"), ...input)).out).toBe("hello\n");
    }
    const missing = await place.ctx("exec", object("tool/fs.read"), "none");
    expect([missing.exit, missing.err]).toEqual([
      1,
      'fs.read: cannot read "none": it does not exist [ENOENT]\n',
    ]);
  });

  test("outside a sandbox only the safe core runs, whatever the environment claims", async () => {
    const env = { CTX_AGENT: "coder", CTX_ROOT: "/ctx" };
    for (const name of ["fs.write", "fs.replace", "shell.exec", "tsh", "agent.update"]) {
      const { exit, err } = await place.run(["ctx", "exec", object(`tool/${name}`), "x"], { env });
      expect([name, exit, err]).toEqual([name, 13, expect.stringContaining("[EACCES]")]);
    }
  });

  test("a model answers a prompt of words, of text or of messages with frames, done last", async () => {
    const echo = object("model/debug/echo");
    const frames = (out: string) =>
      out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    const messages = [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "two\n" },
          { type: "text", text: "lines" },
        ],
      },
    ];
    for (const [words, input, text] of [
      [["hello", "there"], undefined, "hello there"],
      [[], "plain {text}\n", "plain {text}\n"],
      [[], '{"not":"messages"}', '{"not":"messages"}'],
      [[], JSON.stringify({ messages }), "two\nlines"],
    ] as const) {
      const { exit, out, err } = await place.run(
        ["ctx", "exec", echo, ...words],
        input === undefined ? {} : { input },
      );
      const [, ...rest] = frames(out).toReversed();
      expect([exit, err, frames(out).at(-1)]).toEqual([
        0,
        "",
        { type: "done", id: expect.any(String), run: expect.any(String), status: "ok" },
      ]);
      expect(rest[0]).toMatchObject({ type: "message", content: [{ type: "text", text }] });
      expect(rest.slice(1).every(({ type }) => type === "delta")).toBe(true);
    }
    const failed = await place.ctx("exec", object("model/debug/script"), "@error EHOSTDOWN gone");
    expect([failed.exit, failed.err, frames(failed.out).map(({ type }) => type)]).toEqual([
      69,
      expect.stringContaining("gone"),
      ["error", "done"],
    ]);
    for (const input of ["", " \n", '{"messages":[]}', '{"messages":[{"role":"tool"}]}']) {
      const { exit, out } = await place.run(["ctx", "exec", echo], { input });
      expect([input, exit, out]).toEqual([input, 2, ""]);
    }
  });

  test("what is no built-in object is refused", async () => {
    writeFileSync(object("tool/own"), "#!/bin/sh\necho hi\n");
    for (const [path, exit] of [
      [object("tool/own"), 2],
      ["/etc/passwd", 2],
      [object("tool/none"), 1],
      [object("model/debug/none"), 1],
    ] as const) {
      expect([path, (await place.ctx("exec", path)).exit]).toEqual([path, exit]);
    }
    expect((await place.ctx("exec", "/ctx/tool/fs.read", "x")).err).toBe(
      'ctx: object "/ctx/tool/fs.read" does not exist [ENOENT]\n' +
        '  hint: name an object by its path, for example "$(ctx which tool fs.read)"\n',
    );
  });
});
