import { expect, test } from "bun:test";
import { toolOutputBytesMax } from "../abi/mod.ts";
import { type CallResult, resultBlocksMax, resultContent } from "./mod.ts";

interface Kept {
  readonly text: string;
  readonly mimeType: string;
  readonly index: number;
}

function mapped(result: Partial<CallResult>): { status: string; content: string; kept: Kept[] } {
  const kept: Kept[] = [];
  const keep = (bytes: Uint8Array, mimeType: string, index: number) => {
    kept.push({ text: new TextDecoder().decode(bytes), mimeType, index });
    return `/spill/${index}`;
  };
  return { ...resultContent({ content: [], isError: false, ...result }, { keep }), kept };
}

const content = (...blocks: unknown[]) => mapped({ content: blocks }).content;
const text = (value: string) => ({ type: "text", text: value });

test("texts are lines, and an error is an error", () => {
  expect(mapped({ content: [text("a"), text("b\n")], isError: true })).toEqual({
    status: "error",
    content: "a\nb\n",
    kept: [],
  });
  expect(mapped({})).toEqual({ status: "ok", content: "", kept: [] });
});

test("images, audio and blobs are kept and named by their reference", () => {
  const blocks = [
    { type: "image", data: btoa("png"), mimeType: "image/png", _meta: { a: 1 } },
    { type: "audio", data: btoa("wave"), mimeType: "audio/\u001bx" },
    { type: "resource", resource: { uri: "u:1", blob: btoa("bytes") } },
    { type: "image", data: "%%%", mimeType: "image/png" },
  ];
  expect(mapped({ content: blocks })).toEqual({
    status: "ok",
    content: [
      "[image, image/png, 3 bytes: /spill/0]",
      '[audio, "audio/\\u001bx", 4 bytes: /spill/1]',
      "[resource u:1, application/octet-stream, 5 bytes: /spill/2]",
      "[image, image/png: its data is not valid base64]",
    ].join("\n"),
    kept: [
      { text: "png", mimeType: "image/png", index: 0 },
      { text: "wave", mimeType: "audio/\u001bx", index: 1 },
      { text: "bytes", mimeType: "application/octet-stream", index: 2 },
    ],
  });
});

test("what is not kept is named all the same", () => {
  const keep = () => undefined;
  const image = { type: "image", data: btoa("png"), mimeType: "image/png" };
  expect(resultContent({ content: [image], isError: false }, { keep }).content).toBe(
    "[image, image/png, 3 bytes]",
  );
});

test("links and embedded texts are text", () => {
  const link = { type: "resource_link", uri: "file:///a", name: "A", mimeType: "text/plain" };
  expect(content(link)).toBe("[resource file:///a] A, text/plain");
  const embedded = { type: "resource", resource: { uri: "demo:x", text: "hello" } };
  expect(content(embedded)).toBe("[resource demo:x]\nhello");
});

test("what is unknown or malformed is named and not lost", () => {
  expect(content({ type: "hologram", depth: 3, _meta: {} })).toBe(
    '[content of type "hologram"] {"type":"hologram","depth":3}',
  );
  expect(content({ type: "text", text: 7 })).toBe(
    '[content of type "text"] {"type":"text","text":7}',
  );
  expect(content(null, 5, { type: "resource" })).toBe(
    '[content without a type] null\n[content without a type] 5\n[content of type "resource"] {"type":"resource"}',
  );
});

test("structured content is JSON, and is not said twice", () => {
  const structuredContent = { b: [1], a: "x" };
  expect(mapped({ structuredContent }).content).toBe('{"b":[1],"a":"x"}');
  const pretty = '{\n  "a": "x",\n  "b": [1]\n}';
  expect(mapped({ content: [text(pretty)], structuredContent }).content).toBe(pretty);
  expect(mapped({ content: [text("x")], structuredContent }).content).toBe('x\n{"b":[1],"a":"x"}');
  expect(mapped({ content: [text(pretty), text("x")], structuredContent }).content).toBe(
    `${pretty}\nx\n{"b":[1],"a":"x"}`,
  );
  expect(mapped({ structuredContent: null }).content).toBe("null");
});

test("a mismatch is said, and the content stays", () => {
  const mismatch = "/a must be string";
  expect(mapped({ content: [text("x")], structuredContent: { a: 1 }, mismatch }).content).toBe(
    `x\n{"a":1}\n[the result does not fit the tool's output schema: /a must be string]`,
  );
});

test("what is past the bounds is named", () => {
  const many = Array.from({ length: resultBlocksMax + 2 }, () => text("x"));
  expect(content(...many)).toEndWith("x\n[2 more content blocks are left out]");
  const full = "é".repeat(toolOutputBytesMax / 2);
  expect(content(text(full))).toBe(full);
  const cut = content(text(`x${full}`));
  expect(cut).toEndWith("é\n[2 more bytes are left out]");
  expect(new TextEncoder().encode(cut).length).toBeLessThan(toolOutputBytesMax + 64);
});

test("half of a surrogate pair does not go on", () => {
  expect(content(text("a\ud800"))).toBe("a\ufffd");
});
