// Which programs of a view are generated, and what they hold.

import { expect, test } from "bun:test";
import type { ToolObject } from "../tree/mod.ts";
import { viewPrograms } from "./view-folder.ts";

function tool(viewPath: string, builtin = true): ToolObject {
  const name = viewPath.slice(viewPath.lastIndexOf("/") + 1);
  const texts = { description: "", policyFile: "", hostPath: `/tree/${name}` };
  return {
    name,
    viewPath,
    builtin,
    schema: {},
    cap: ["read", "exec"],
    policy: undefined,
    ...texts,
  };
}

const models = (count: number) =>
  Array.from({ length: count }, (_, index) => {
    const name = `model/loop/m${index}`;
    return { viewPath: `/ctx/${name}`, hostPath: `/tree/${name}` };
  });

test("viewPrograms() has the built-in tools and the models, not what is bound from the tree", () => {
  const visible = [
    tool("/ctx/tool/fs.read"),
    tool("/ctx/tool/mine", false),
    tool("/ctx/home/1000/tool/fs.stat"),
    tool("/elsewhere/fs.list"),
  ];
  const head = "#!/ctx/bin/ctx exec\n# class: ";
  const text = (name: string) => `${head}tool\n# name: ${name}\n# cap: read exec\n`;
  expect(viewPrograms({ agent: "coder", visible, models: models(1) })).toEqual([
    { view: "/ctx/tool/fs.read", content: text("fs.read") },
    { view: "/ctx/home/1000/tool/fs.stat", content: text("fs.stat") },
    { view: "/ctx/model/loop/m0", content: `${head}model\n# name: loop/m0\n` },
  ]);
});

test("viewPrograms() refuses more than a sandbox can be given, with the agent and the number", () => {
  const visible = [tool("/ctx/tool/fs.read")];
  expect(viewPrograms({ agent: "coder", visible, models: models(255) }).length).toBe(256);
  const refused = () => viewPrograms({ agent: "coder", visible, models: models(256) });
  expect(refused).toThrow('agent "coder" sees 257 built-in tools and models; at most 256');
});
