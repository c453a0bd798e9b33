import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApproveRequest } from "../../internal/interaction/mod.ts";
import { ApprovalDesk, type ApprovalFrame, type Decision } from "./approval-desk.ts";
import { seenFile } from "./approval-file.ts";
import { approvalText } from "./approval-text.ts";

const frame = (name: string, args: unknown, cwd = "/workspace"): ApprovalFrame => ({
  ...{ type: "approval_request", id: "call-1", run: "ctx-1", name, args, cwd },
  ...{ digest: "d", expires_at: "2026-01-01T00:00:00.000Z" },
});

describe("approvalText()", () => {
  const none = () => ({ ok: true, text: undefined }) as const;

  test("shows a command line by line, so that no text of it looks like ours", () => {
    const cmd = "true\ncoder asks to run fs.read in /\x1b[31m\u202e";
    expect(approvalText(frame("shell.exec", { cmd, timeout_ms: 5 }), "coder", none)).toBe(
      [
        "coder asks to run shell.exec in /workspace",
        "  timeout_ms: 5",
        "  | true",
        "  | coder asks to run fs.read in /\\x1b[31m\\u202e",
        "",
      ].join("\n"),
    );
    const words = approvalText(frame("shell.exec", { cmd: ["ls", "a b"] }), "coder", none);
    expect(words).toEndWith('  | "ls" "a b"\n');
  });

  test("shows a change as a diff", () => {
    const args = { path: "a", content: "new\n" };
    const seen = () => ({ ok: true, text: "old\n" }) as const;
    expect(approvalText(frame("fs.write", args), "coder", seen)).toBe(
      [
        "coder asks to run fs.write in /workspace",
        '  path: "a"',
        ...["  | --- a/a", "  | +++ b/a", "  | @@ -1,1 +1,1 @@", "  | -old", "  | +new", ""],
      ].join("\n"),
    );
  });

  test("says why there is no diff, and shows the whole texts then", () => {
    const seen = () => ({ ok: false, because: "it is\nfar" }) as const;
    const args = { path: "a", old: "x", new: "y" };
    expect(approvalText(frame("fs.replace", args), "coder", seen)).toBe(
      [
        "coder asks to run fs.replace in /workspace",
        ...['  path: "a"', "  no diff: it is\\nfar", "  old:", "  | x", "  new:", "  | y", ""],
      ].join("\n"),
    );
  });

  test("shows any other tool's arguments whole", () => {
    const text = approvalText(frame("own", { z: ["a\nb"], "\x07": 1 }, "/x\n"), "coder", none);
    expect(text.split("\n")[0]).toBe("coder asks to run own in /x\\n");
    for (const line of text.split("\n").slice(1, -1)) expect(line).toStartWith("  | ");
    expect(text).toContain('"a\\nb"');
    expect(text).not.toContain("\x07");
  });
});

describe("seenFile()", () => {
  const base = mkdtempSync(join(tmpdir(), "ctx-seen-"));
  const work = join(base, "work");
  const home = join(base, "home");
  const mount = { source: join(base, "more"), target: "/workspace/more" };
  const context = { home, controls: { mount: [mount] } } as unknown as Parameters<
    typeof seenFile
  >[0];
  const see = (path: string, cwd = "/workspace") => seenFile(context, work, cwd, path);

  beforeAll(() => {
    for (const folder of [work, home, mount.source]) mkdirSync(folder);
    writeFileSync(join(work, "a"), "in work");
    writeFileSync(join(home, "a"), "in home");
    writeFileSync(join(mount.source, "a"), "in more");
    writeFileSync(join(work, "bytes"), new Uint8Array([0xff, 0xfe]));
    symlinkSync("a", join(work, "link"));
  });
  afterAll(() => rmSync(base, { recursive: true }));

  test("finds the file behind a path of the view, the innermost folder first", () => {
    expect(see("a")).toEqual({ ok: true, text: "in work" });
    expect(see("/home/agent/a")).toEqual({ ok: true, text: "in home" });
    expect(see("more/a")).toEqual({ ok: true, text: "in more" });
    expect(see("./a", "/workspace/more")).toEqual({ ok: true, text: "in more" });
    expect(see("new")).toEqual({ ok: true, text: undefined });
  });

  test.each([
    ["../workspace/a", "climbs"],
    ["/tmp/a", "no folder of this machine"],
    ["bytes", "no UTF-8"],
    ["link", "symbolic"],
  ])("guesses nothing about %j", (path, because) => {
    const seen = see(path);
    expect(seen.ok).toBe(false);
    if (!seen.ok && because !== "symbolic") expect(seen.because).toContain(because);
  });
});

describe("ApprovalDesk", () => {
  const opened = (decide: (over: AbortSignal) => Promise<Decision | undefined>) => {
    const answers: ApproveRequest[] = [];
    const desk = new ApprovalDesk((_, over) => decide(over));
    desk.open(frame("fs.read", {}), (answer) => answers.push(answer));
    return { desk, answers };
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  test("answers with what was shown", async () => {
    const { answers } = opened(async () => ({ decision: "deny", reason: "no" }));
    await settled();
    expect(answers).toEqual([
      {
        ...{ op: "approve", run: "ctx-1", id: "call-1" },
        decision: "deny",
        reason: "no",
        digest: "d",
      },
    ]);
  });

  test("denies when deciding fails", async () => {
    const { answers } = opened(() => Promise.reject(new Error("no terminal")));
    await settled();
    expect(answers).toMatchObject([{ decision: "deny" }]);
  });

  test("asks no more once the call has its result, and answers nothing then", async () => {
    let over: AbortSignal | undefined;
    const { promise, resolve } = Promise.withResolvers<Decision>();
    const { desk, answers } = opened((signal) => {
      over = signal;
      return promise;
    });
    desk.see({
      ...{ type: "tool_result", id: "call-1", run: "ctx-1", name: "fs.read" },
      ...{ status: "error", content: "", truncated: false },
    });
    expect(over?.aborted).toBe(true);
    resolve({ decision: "allow_once" });
    await settled();
    expect(answers).toEqual([]);
  });
});
