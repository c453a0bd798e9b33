import { describe, expect, test } from "bun:test";
import { updateContentBytesMax } from "../abi/mod.ts";
import {
  decodeCapabilityAnswer,
  decodeCapabilityRequest,
  encodeCapability,
  type UpdateRequest,
} from "./mod.ts";

const update: UpdateRequest = {
  op: "agent.update",
  request_id: "tool-1",
  agent: "coder",
  session: "default",
  run: "run-1",
  control: "system.md",
  content: "Be careful.\n",
};

const line = (value: unknown) => JSON.stringify(value);

describe("a request", () => {
  test("of the specification is read as it stands", () => {
    expect(decodeCapabilityRequest(line(update))).toEqual({ ok: true, request: update });
    expect(encodeCapability(update)).toBe(`${line(update)}\n`);
  });

  test("with an old token is the same request without it", () => {
    for (const token of ["0123", "", null, { bearer: 1 }, ["x"]]) {
      expect(decodeCapabilityRequest(line({ token, ...update }))).toEqual({
        ok: true,
        request: update,
      });
    }
  });

  test("that is refused still says which id it used up", () => {
    const refused: readonly (readonly [object, string, string])[] = [
      [{ ...update, control: "policy" }, "EINVAL", "/control"],
      [{ ...update, control: "../coder.d/system.md" }, "EINVAL", "/control"],
      [{ ...update, content: "x".repeat(updateContentBytesMax + 1) }, "EMSGSIZE", "/content"],
      [{ ...update, content: "\0" }, "EINVAL", "/content"],
      [{ ...update, agent: "a/b" }, "EINVAL", "/agent"],
      [{ ...update, op: "agent.rewrite" }, "EINVAL", "/op"],
    ];
    for (const [request, code, path] of refused) {
      const said = decodeCapabilityRequest(line(request));
      expect(said).toMatchObject({ ok: false, code, path, request_id: "tool-1" });
    }
  });

  test("without an id that can be used is answered with null", () => {
    for (const request_id of [undefined, null, "", 7, "a\0", "r".repeat(257), ["tool-1"]]) {
      const said = decodeCapabilityRequest(line({ ...update, request_id }));
      expect(said).toMatchObject({ ok: false, code: "EINVAL", request_id: null });
    }
    expect(decodeCapabilityRequest("{")).toMatchObject({ ok: false, path: "", request_id: null });
    expect(decodeCapabilityRequest("[]")).toMatchObject({ ok: false, request_id: null });
  });

  test("is not what an answer looks like", () => {
    const reply = { request_id: "tool-1", ok: true } as const;
    expect(decodeCapabilityRequest(line(reply))).toMatchObject({ ok: false, path: "/op" });
    expect(decodeCapabilityAnswer(line(update))).toMatchObject({ ok: false, path: "/ok" });
    expect(decodeCapabilityAnswer(line(reply))).toEqual({ ok: true, answer: reply });
  });
});

describe("an answer", () => {
  test("keeps the order of its members however it was built", () => {
    const refusal = { message: "no", ok: false, request_id: null, code: "EACCES" } as const;
    expect(encodeCapability(refusal)).toBe(
      `{"request_id":null,"ok":false,"code":"EACCES","message":"no"}\n`,
    );
  });

  test("that no peer would accept is not sent", () => {
    expect(() => encodeCapability({ request_id: "", ok: true })).toThrow("request_id");
  });
});
