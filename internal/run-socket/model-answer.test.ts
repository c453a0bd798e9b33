import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  answerOf,
  ask,
  connect,
  modelUse,
  Stage,
  update,
} from "../../testdata/run-socket/stage.ts";
import { CodedError } from "../abi/mod.ts";
import { type ProcessStamp, processFacts } from "../os/mod.ts";

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
  stage.roots = [processFacts(process.pid) as ProcessStamp];
});
afterEach(() => stage.end());

const refused = (id: string | null, code: string) => ({
  request_id: id,
  ok: false,
  code,
  message: expect.any(String),
});

describe("model.use", () => {
  const frame = (n: number, rest: object) => ({
    request_id: "m",
    id: `frame-${n}`,
    run: "run-1",
    ...rest,
  });

  test("is answered by frames that name the request, done last", async () => {
    const connection = await connect(stage.open());
    const frames = [await ask(connection, modelUse("m"))];
    frames.push(await answerOf(connection), await answerOf(connection));
    expect(frames).toEqual([
      frame(1, { type: "delta", text: "hi" }),
      frame(2, { type: "message", role: "assistant", content: [{ type: "text", text: "hi" }] }),
      frame(3, { type: "done", status: "ok" }),
    ]);
    expect(await ask(connection, update("a"))).toMatchObject({ request_id: "a", ok: true });
    connection.end();
  });

  test("that is not let in is a refusal and nothing follows; one that fails ends with it", async () => {
    let begun = false;
    const socket = stage.open({
      useModel: async (_, emit) => {
        if (begun) emit({ type: "delta", text: "h" });
        throw new CodedError("EACCES", "not allowed");
      },
    });
    const connection = await connect(socket);
    expect(await ask(connection, modelUse("no"))).toEqual(refused("no", "EACCES"));
    begun = true;
    expect([
      await ask(connection, modelUse("m")),
      await answerOf(connection),
      await answerOf(connection),
    ]).toEqual([
      frame(1, { type: "delta", text: "h" }),
      frame(2, { type: "error", code: "EACCES", message: "not allowed" }),
      frame(3, { type: "done", status: "error", code: "EACCES" }),
    ]);
    connection.end();
  });

  test("is told when its asker has gone and when the run ends", async () => {
    for (const leave of ["asker", "run"] as const) {
      const asked = Promise.withResolvers<void>();
      const aborted = Promise.withResolvers<string>();
      const socket = stage.open({
        useModel: async (_, emit, signal) => {
          emit({ type: "delta", text: "h" });
          asked.resolve();
          const tick = setInterval(() => emit({ type: "delta", text: "h" }), 5);
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          clearInterval(tick);
          aborted.resolve(leave);
          return { status: "cancelled" };
        },
      });
      const connection = await connect(socket);
      void connection.send(`${JSON.stringify(modelUse(leave))}\n`);
      await asked.promise;
      if (leave === "asker") connection.destroy();
      else await socket.close();
      expect(await aborted.promise).toBe(leave);
      await socket.close();
    }
  });
});
