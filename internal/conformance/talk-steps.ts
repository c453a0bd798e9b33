// One step of a talk, from the fields of its line.

import type { Action } from "./talk.ts";

/** Bytes that a `send_repeat` may make; more than any protocol's line, so that each can be passed. */
const repeatedBytesMax = 16 * 1024 * 1024;

type Fields = Readonly<Record<string, unknown>>;
type Refuse = (reason: string) => never;

const readers: Readonly<Record<string, (value: unknown, refuse: Refuse) => Action>> = {
  send: (frame) => ({ kind: "send", frame }),
  send_line: (value, refuse) => {
    if (typeof value !== "string") return refuse(`"send_line" is not a string`);
    if (value.includes("\n")) return refuse(`"send_line" has more than one line`);
    return { kind: "send_line", text: value };
  },
  send_bytes: (value, refuse) => {
    if (typeof value !== "string" || !/^(?:[\w+/]{4})*(?:[\w+/]{2}(?:==|[\w+/]=))?$/.test(value)) {
      return refuse(`"send_bytes" is not base64`);
    }
    return { kind: "send_bytes", bytes: Uint8Array.fromBase64(value) };
  },
  send_repeat: readRepeated,
  expect: (pattern, refuse) => {
    if (typeof pattern === "object" && pattern !== null && !Array.isArray(pattern)) {
      return { kind: "expect", pattern };
    }
    return refuse(`"expect" is not an object`);
  },
  expect_text: (value, refuse) => {
    const { kind, text, ...more } = fieldsOf(value);
    if (typeof kind !== "string" || typeof text !== "string" || Object.keys(more).length > 0) {
      return refuse(`"expect_text" is not {"kind","text"}`);
    }
    return { kind: "expect_text", of: kind, text };
  },
  expect_close: (value, refuse) =>
    value === true ? { kind: "expect_close" } : refuse(`"expect_close" is not true`),
  close: (value, refuse) => {
    if (value === true) return { kind: "close", how: "both" };
    return value === "write" ? { kind: "close", how: "write" } : refuse(`"close" is not known`);
  },
};

export function readStep(fields: Fields, refuse: Refuse): Action {
  const [key, ...more] = Object.keys(fields);
  if (key === undefined) return refuse("the step does nothing");
  if (more.length > 0) return refuse(`the step has a second field ${JSON.stringify(more[0])}`);
  const read = Object.hasOwn(readers, key) ? readers[key] : undefined;
  if (read === undefined) return refuse(`the step ${JSON.stringify(key)} is not known`);
  return read(fields[key], refuse);
}

function readRepeated(value: unknown, refuse: Refuse): Action {
  const { before, unit, times, after, ...more } = fieldsOf(value);
  const texts = [before, unit, after];
  const whole = texts.every((text) => typeof text === "string" && !text.includes("\n"));
  if (!whole || !Number.isSafeInteger(times) || Object.keys(more).length > 0) {
    return refuse(`"send_repeat" is not {"before","unit","times","after"} without newlines`);
  }
  const repeated = { before, unit, times, after } as Record<"before" | "unit" | "after", string> & {
    times: number;
  };
  if (repeated.times < 1 || repeated.unit.length * repeated.times > repeatedBytesMax) {
    return refuse(`"send_repeat" makes no or more than ${repeatedBytesMax} bytes`);
  }
  return { kind: "send_repeat", ...repeated };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
