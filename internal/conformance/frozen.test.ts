import { expect, test } from "bun:test";
import { abiFiles } from "./files.ts";
import { freeze, frozenFile, isFrozen } from "./frozen.ts";

test("FROZEN.sha256 has every file of abi/ as it is; make freeze adds new ones", () => {
  const list = abiFiles().get(frozenFile) ?? "";
  const { text, broken, added } = freeze(abiFiles(), list);
  expect({ broken, added }).toEqual({ broken: [], added: [] });
  expect(list).toBe(text);
  expect(text.split("\n").length).toBeGreaterThan(2);
});

const draft = '{"talk":"a","draft":true}\n';
const files = new Map([
  ["README.md", "prose"],
  ["op/v1/CHANGELOG.md", "prose"],
  ["errors.json", "{}"],
  ["op/v1/talk/a.jsonl", '{"talk":"a"}\n'],
  ["op/v1/talk/b.jsonl", draft],
]);

test("prose, drafts and the list itself are not frozen", () => {
  expect([...files].filter(([path, text]) => isFrozen(path, text)).map(([path]) => path)).toEqual([
    "errors.json",
    "op/v1/talk/a.jsonl",
  ]);
  expect(isFrozen(frozenFile, "")).toBe(false);
  expect(isFrozen("op/v1/talk/c.jsonl", "not JSON\n")).toBe(true);
});

test("a list is in the order of its paths, as sha256sum writes it", () => {
  const { text, added, broken } = freeze(files, "");
  // sha256 of "{}", which no code of ours computed.
  const digest = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a";
  expect(text.split("\n")[0]).toBe(`${digest}  errors.json`);
  expect(text).toMatch(/^[0-9a-f]{64} {2}errors\.json\n[0-9a-f]{64} {2}op\/v1\/talk\/a\.jsonl\n$/);
  expect([added, broken]).toEqual([["errors.json", "op/v1/talk/a.jsonl"], []]);
});

test("a frozen file that is changed, made a draft or removed is said", () => {
  const { text } = freeze(files, "");
  const changed = new Map([...files, ["errors.json", "{ }"], ["op/v1/talk/a.jsonl", draft]]);
  expect(freeze(changed, text).broken).toEqual([
    '"errors.json" is frozen and was changed',
    '"op/v1/talk/a.jsonl" is frozen and was made a draft',
  ]);
  changed.delete("errors.json");
  expect(freeze(changed, text).broken[0]).toBe('"errors.json" is frozen and is gone');
  expect(freeze(files, text)).toEqual({ text, broken: [], added: [] });
});
