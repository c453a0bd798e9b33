import { expect, test } from "bun:test";
import fc from "fast-check";
import { StreamEnd } from "./stream-end.ts";

const encoder = new TextEncoder();

/** Bytes that belong to the answer when it arrives in pieces of these sizes. */
function lengthOf(text: string, sizes: readonly number[]): number | undefined {
  const end = new StreamEnd();
  const bytes = encoder.encode(text);
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    const found = end.push(bytes.subarray(at, at + size));
    if (found !== undefined) return at + found;
    at += size;
  }
  return undefined;
}

test.each([
  ["data: [DONE]\n", 13],
  ["data:[DONE]\n", 12],
  ['data: {"x":1}\n\ndata: [DONE]\r\n\r\nmore', 28],
  [": comment\rdata: x\n\ndata: [DONE]\n", 32],
])("the end of %j is found however it is cut", (text, length) => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (sizes) => {
      expect(lengthOf(text, sizes)).toBe(length);
    }),
  );
});

test.each([
  "data: [DONE]",
  "data: [DONE] \n",
  "data: [DONE]x\n",
  "xdata: [DONE]\n",
  'data: {"content":"data: [DONE]"}\n',
  "data : [DONE]\n",
  "[DONE]\n",
])("%j goes on", (text) => {
  expect(lengthOf(text, [3])).toBeUndefined();
  expect(lengthOf(text, [100])).toBeUndefined();
});
