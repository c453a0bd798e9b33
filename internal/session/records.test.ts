import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { observationBytesMax } from "../abi/mod.ts";
import { collect, oneCall, type Place, place, send, service } from "./fixture.ts";
import type { Sessions } from "./sessions.ts";

let at: Place;
let open: Sessions[];
beforeEach(() => {
  at = place();
  open = [];
});
afterEach(async () => {
  for (const one of open) await one.close();
  at.remove();
});

function serve(
  ...rest: Parameters<typeof service> extends [Place, ...infer R] ? R : never
): Sessions {
  const sessions = service(at, ...rest);
  open.push(sessions);
  return sessions;
}

describe("a run's records", () => {
  test("cut the observation on a character and keep the whole output by its hash", async () => {
    const output = "é€😀".repeat(5000);
    let seen: { content: string; truncated: boolean } | undefined;
    const sessions = serve(async (context) => {
      const call = await context.toolCall("shell.exec", {});
      seen = await context.toolResult(call, "shell.exec", { status: "ok", output, dropped: 7 });
      return { status: "ok" };
    });
    const frames = await collect(await sessions.send("coder", send("a")));
    expect(seen?.truncated).toBe(true);
    expect(output.startsWith(seen?.content ?? "no")).toBe(true);
    const bytes = Buffer.byteLength(seen?.content ?? "");
    expect(bytes).toBeLessThanOrEqual(observationBytesMax);
    expect(bytes).toBeGreaterThan(observationBytesMax - 4);
    expect(frames[3]).toMatchObject({ content: seen?.content, truncated: true });
    const result = at.events().find((one) => one["type"] === "tool.result");
    const ref = result?.["content_ref"] as { sha256: string; bytes: number; dropped: number };
    expect(ref).toMatchObject({ bytes: Buffer.byteLength(output), dropped: 7 });
    const chunk = join(at.sessionFolder(), "context/swap/chunk", `sha256-${ref.sha256}`);
    expect(readFileSync(chunk, "utf8")).toBe(output);
  });

  test("leave only digests of arguments when the host says so", async () => {
    const sessions = serve(
      async (context) => {
        await context.toolCall("fs.read", { path: "secret name" });
        return { status: "ok" };
      },
      { record: "digest" },
    );
    const frames = await collect(await sessions.send("coder", send("a")));
    expect(JSON.stringify(at.events())).not.toContain("secret name");
    expect(frames[2]).toMatchObject({
      args: { args_digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
  });

  test("answer each call once: a second result and a foreign call are refused", async () => {
    const refused: string[] = [];
    const sessions = serve(async (context) => {
      const outcome = { status: "ok" as const, output: "x", dropped: 0 };
      const call = await context.toolCall("fs.read", {});
      const both = await Promise.allSettled([
        context.toolResult(call, "fs.read", outcome),
        context.toolResult(call, "fs.read", outcome),
        context.toolResult("call-999", "fs.read", outcome),
      ]);
      for (const one of both) if (one.status === "rejected") refused.push(one.reason.code);
      return { status: "ok" };
    });
    await collect(await sessions.send("coder", send("a")));
    expect(refused).toEqual(["EINVAL", "EINVAL"]);
    expect(at.events().filter((one) => one["type"] === "tool.result").length).toBe(1);
  });

  test("are the next run's history, also after a restart, without inputs that never ran", async () => {
    const histories: unknown[] = [];
    const executor: typeof oneCall = async (context) => {
      histories.push(context.history().map((item) => [item.kind, item.run]));
      return oneCall(context);
    };
    const sessions = serve(executor);
    const first = await collect(await sessions.send("coder", send("a")));
    await collect(await sessions.send("coder", send("b")));
    await sessions.close();
    await collect(await serve(executor).send("coder", send("c")));
    const { run } = first[0] as { run: string };
    const turn = ["user", "tool_call", "tool_result", "assistant"];
    expect(histories[0]).toEqual([]);
    expect(histories[1]).toEqual(turn.map((kind) => [kind, run]));
    expect((histories[2] as unknown[]).length).toBe(8);
  });
});

describe("derived files", () => {
  test("show state, latest text, times and the indexes", async () => {
    const sessions = serve(oneCall);
    await collect(await sessions.send("coder", send("a", { workspace: "/srv/project" })));
    await sessions.close();
    const read = (name: string) => readFileSync(join(at.sessionFolder(), name), "utf8");
    expect(read("state")).toBe("done\n");
    expect(read("latest.md")).toBe("answer to input of a\n");
    expect(read("cwd")).toBe("/srv/project\n");
    expect(JSON.parse(read("state.json"))).toMatchObject({ state: "done", head: 9, run: null });
    expect(read("../index/list")).toBe("default\n");
    expect(read("../index/current")).toBe("default\n");
    const [hash = ""] = readdirSync(join(at.sessionFolder(), "../index/by-cwd"));
    expect(read(`../index/by-cwd/${hash}`)).toBe("default\n");
    expect(hash).toBe(new Bun.CryptoHasher("sha256").update("/srv/project").digest("hex"));
  });
});
