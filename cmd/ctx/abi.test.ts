// `ctx abi` as a person calls it: tables, verdicts line by line, and the folder written out.

import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Place } from "../../testdata/cli/program.ts";

setDefaultTimeout(120_000);

const place = new Place();
afterAll(() => place.remove());

const abi = resolve(import.meta.dir, "../../abi");
const golden = (path: string) => readFileSync(join(abi, path), "utf8");

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".tmp"))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

test("abi lists every protocol with its bound; --json is one object a line", async () => {
  const { exit, out } = await place.ctx("abi");
  expect(exit).toBe(0);
  const names = [
    "op/v1",
    "interaction/v1",
    "interaction/v2",
    "sdk-envelope/v1",
    "control/v1",
    "tool-native/v1",
    "terminal-call/v1",
  ];
  expect(out.split("\n").map((line) => line.split(" ")[0])).toEqual([...names, ""]);
  const facts = (await place.ctx("abi", "--json")).out.trim().split("\n");
  expect(facts.map((line) => JSON.parse(line).name)).toEqual(names);
  expect(JSON.parse(facts[2] as string)).toMatchObject({ short: "v2", line_bytes_max: 262144 });
});

test("abi --help lists its commands, and a word that is none is said with those that are", async () => {
  const help = await place.ctx("abi", "--help");
  expect(help.exit).toBe(0);
  const listed = [...help.out.matchAll(/^ {2}ctx abi (\w+).*\n {6}\w/gm)].map(([, name]) => name);
  expect(listed.slice(0, 4)).toEqual(["conformance", "export", "show", "verify"]);
  expect(help.out.split("\n").filter((line) => line.length > 96)).toEqual([]);
  expect((await place.ctx("abi", "help")).out).toBe(help.out);
  const wrong = await place.ctx("abi", "verfy");
  expect(wrong.exit).toBe(2);
  expect(wrong.err).toContain('unknown command "abi verfy" [EINVAL]');
  expect(wrong.err).toContain("export, show, verify");
});

test("abi show tells of one kind its rules, an example and a schema that stands alone", async () => {
  const { exit, out } = await place.ctx("abi", "show", "op", "send");
  expect(exit).toBe(0);
  expect(out).toContain("op/v1 send: ");
  expect(out).toContain("input-bytes [EMSGSIZE]");
  const facts = JSON.parse((await place.ctx("abi", "show", "op/v1", "send", "--json")).out);
  expect(facts.rows[0]).toMatchObject({ kind: "send", side: "client" });
  expect(facts.example.op).toBe("send");
  const refs = [...JSON.stringify(facts.schema).matchAll(/"#\/\$defs\/([^"]+)"/g)];
  expect(refs.length).toBeGreaterThan(2);
  const missing = refs.filter(([, name]) => facts.schema.$defs[name as string] === undefined);
  expect(missing).toEqual([]);
});

test("abi show says what there is when it is asked for what is not", async () => {
  const protocol = await place.ctx("abi", "show", "op/v9");
  expect([protocol.exit, protocol.err]).toEqual([
    1,
    expect.stringContaining('protocol "op/v9" does not exist [ENOENT]'),
  ]);
  expect(protocol.err).toContain("interaction/v2 (v2)");
  const kind = await place.ctx("abi", "show", "v1", "sent");
  expect([kind.exit, kind.err]).toEqual([1, expect.stringContaining('no kind "sent" [ENOENT]')]);
  expect(kind.err).toContain("command_result");
});

test("abi verify goes through a file line by line and exits with 2 when one is wrong", async () => {
  const file = join(place.work, "frames.jsonl");
  writeFileSync(file, '{"op":"ping"}\n{"op":"fly"}\n\n{"op":"ping"');
  const { exit, out } = await place.ctx("abi", "verify", file);
  const lines = out.split("\n");
  expect(exit).toBe(2);
  expect(lines[0]).toBe("1: ok  ping");
  expect(lines[1]).toStartWith("2: EINVAL /op ");
  expect(lines[2]).toStartWith("3: EINVAL ");
  expect(lines[3]).toBe("4: EINVAL last line does not end in a newline");
  writeFileSync(file, '{"op":"ping"}\n{"type":"pong","id":"p1"}\n');
  expect(await place.ctx("abi", "verify", file)).toEqual({
    exit: 0,
    out: "1: ok  ping\n2: ok  pong\n",
    err: "",
  });
});

const recognised: readonly (readonly [string, string])[] = [
  ["op/v1/accept/ping.json", "op/v1"],
  ["interaction/v1/accept/done.json", "interaction/v1"],
  ["sdk-envelope/v1/accept/invocation.json", "sdk-envelope/v1"],
  ["control/v1/accept/tool.authorize.json", "control/v1"],
  ["control/v1/accept/refusal.json", "control/v1"],
  ["tool-native/v1/accept/result.json", "tool-native/v1"],
  ["terminal-call/v1/accept/terminal.serve.json", "terminal-call/v1"],
  ["terminal-call/v1/accept/call.json", "terminal-call/v1"],
  ["terminal-call/v1/accept/tsh.json", "terminal-call/v1"],
  ["terminal-call/v1/accept/answer.json", "terminal-call/v1"],
];

for (const [path, name] of recognised) {
  test(`abi verify knows ${path} without being told, on standard input`, async () => {
    const { exit, out } = await place.run(["ctx", "abi", "verify", "--json", "-"], {
      input: golden(path),
    });
    expect([exit, JSON.parse(out)]).toEqual([0, expect.objectContaining({ ok: true, abi: name })]);
  });
}

test("abi verify --abi holds a line to the protocol that is named, and --json says who refused", async () => {
  const input = golden("op/v1/accept/ping.json");
  const argv = ["ctx", "abi", "verify", "--abi", "v2", "--json"];
  const { exit, out } = await place.run(argv, { input });
  expect(exit).toBe(2);
  expect(JSON.parse(out)).toMatchObject({ line: 1, abi: "interaction/v2", ok: false });
  expect(JSON.parse(out)).toMatchObject({ code: "EINVAL", by: "schema" });
});

test("abi verify shows what would move a cursor as an escape", async () => {
  const input = '{"op":"\\u001b[2J\u202e"}\n';
  const { out } = await place.run(["ctx", "abi", "verify", "--abi", "op"], { input });
  expect(out).not.toMatch(/[\x1b\u202e]/);
});

const refused: readonly (readonly [string, readonly string[], string, string])[] = [
  ["what is of no protocol", [], '{"x":1}\n', "cannot tell from the first line"],
  ["no line at all", ["--abi", "op"], "", "holds no line"],
  ["an unknown protocol", ["--abi", "op/v9"], "{}\n", 'protocol "op/v9" does not exist'],
  ["a folder", ["/"], "", "it is a folder"],
  ["a missing file", ["/no/such/file"], "", "it does not exist"],
];

for (const [what, argv, input, said] of refused) {
  test(`abi verify refuses ${what}`, async () => {
    const { exit, out, err } = await place.run(["ctx", "abi", "verify", ...argv], { input });
    expect(exit).not.toBe(0);
    expect(out).toBe("");
    expect(err).toContain(said);
  });
}

test("abi verify answers while its input goes on, in the memory of one line", async () => {
  const argv = [process.execPath, join(import.meta.dir, "main.ts"), "abi", "verify", "--abi", "op"];
  const child = Bun.spawn(argv, { stdin: "pipe", stdout: "pipe", env: place.env });
  const reader = child.stdout.getReader();
  child.stdin.write('{"op":"ping"}\n');
  await child.stdin.flush();
  const first = await reader.read();
  expect(new TextDecoder().decode(first.value)).toBe("1: ok  ping\n");
  // A line of 256 MiB: refused at its bound, and its rest goes nowhere.
  const chunk = new Uint8Array(1024 * 1024).fill(0x61);
  for (let count = 0; count < 256; count++) {
    child.stdin.write(chunk);
    await child.stdin.flush();
  }
  const second = await reader.read();
  expect(new TextDecoder().decode(second.value)).toStartWith("2: EMSGSIZE ");
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  const peak = Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]);
  expect(peak).toBeGreaterThan(1000);
  expect(peak).toBeLessThan(300 * 1024);
  child.kill("SIGINT");
  expect(await child.exited).toBe(130);
});

test("abi export writes the folder, and refuses one that holds something", async () => {
  const folder = join(place.work, "out");
  const { exit, out } = await place.ctx("abi", "export", folder);
  expect([exit, out]).toEqual([0, expect.stringContaining(` files in ${folder}\n`)]);
  expect(filesBelow(folder)).toEqual(filesBelow(abi));
  const again = await place.ctx("abi", "export", folder);
  expect([again.exit, again.err]).toEqual([1, expect.stringContaining("is not empty [ENOTEMPTY]")]);
  expect((await place.ctx("abi", "export", folder, "--force")).exit).toBe(0);
});

test("abi export without a right to write says so and leaves nothing", async () => {
  if (process.getuid?.() !== 0) {
    process.stdout.write("SKIP needs root to become another user\n");
    return;
  }
  const closed = join(place.work, "closed");
  mkdirSync(closed, { mode: 0o755 });
  const main = join(import.meta.dir, "main.ts");
  const argv = [
    "setpriv",
    "--reuid=65533",
    "--regid=65533",
    "--clear-groups",
    process.execPath,
    main,
  ];
  const child = Bun.spawn([...argv, "abi", "export", join(closed, "out")], {
    env: place.env,
    stderr: "pipe",
  });
  const err = await new Response(child.stderr).text();
  expect(await child.exited).toBe(13);
  expect(err).toContain("permission denied [EACCES]");
  expect(readdirSync(closed)).toEqual([]);
  expect(existsSync(join(closed, "out"))).toBe(false);
});

test("abi export onto a full or a read-only disk leaves nothing half", async () => {
  const script = `
    mount -t tmpfs -o size=64k none "$1" || exit 99
    "$2" "$3" abi export "$1/out"; echo "status $?"; ls -A "$1" | wc -l
    mount -o remount,ro "$1" || exit 99
    "$2" "$3" abi export "$1/out"; echo "status $?"; ls -A "$1" | wc -l`;
  const disk = join(place.work, "disk");
  mkdirSync(disk);
  const main = join(import.meta.dir, "main.ts");
  const argv = ["unshare", "-m", "sh", "-c", script, "sh", disk, process.execPath, main];
  const child = Bun.spawn(argv, { env: place.env, stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) === 99 || /unshare: /.test(err)) {
    process.stdout.write("SKIP needs the right to mount a tmpfs\n");
    return;
  }
  expect(out.replaceAll(/ +/g, " ").trim()).toBe("status 70\n0\nstatus 1\n0");
  expect(err).toContain("no space is left [ENOSPC]");
  expect(err).toContain("read-only [EROFS]");
});
