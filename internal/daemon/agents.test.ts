// Agents that are malformed, break, come and go while their tree is served.

import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, lstatSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cleanUp, collect, newTree, send, serveTree } from "../../testdata/daemon/served.ts";
import { askControl } from "../client/mod.ts";

afterEach(cleanUp);

describe("agents of the tree", () => {
  test("a malformed one is reported with its place, the others are served", async () => {
    const tree = newTree();
    const perm = join(tree.places.source, "agent/architect.d/perm");
    writeFileSync(perm, "rwz\n");
    const { daemon } = await serveTree(tree);
    expect([...daemon.agents].sort()).toEqual(["coder", "reviewer"]);
    expect(daemon.faults).toMatchObject([{ agent: "architect", error: { code: "EINVAL" } }]);
    expect(existsSync(tree.alias("architect"))).toBe(false);
    const attempt = collect(tree, send("x"), "architect");
    expect(attempt).rejects.toMatchObject({
      code: "EINVAL",
      message: expect.stringContaining("perm"),
    });
    await attempt.catch(() => {});
    // A client that asks again after the repair needs no restart.
    writeFileSync(perm, "r--\n");
    expect((await collect(tree, send("x"), "architect")).at(-1)).toMatchObject({ status: "ok" });
  });

  test("one that breaks while it is served answers with what is wrong", async () => {
    const tree = newTree();
    const { log } = await serveTree(tree);
    writeFileSync(join(tree.places.source, "agent/coder.d/path"), "not absolute\n");
    expect(await collect(tree, send("x"))).toMatchObject([{ type: "error", code: "EINVAL" }]);
    expect(log.calls).toEqual([]);
  });

  test("rescan serves a new one and drops a removed one", async () => {
    const tree = newTree();
    const { daemon } = await serveTree(tree);
    const folder = join(tree.places.source, "agent");
    await Bun.$`cp -a ${folder}/coder ${folder}/tester && cp -a ${folder}/coder.d ${folder}/tester.d`;
    rmSync(join(folder, "reviewer"));
    const reply = await askControl(tree.places, "rescan");
    expect(reply).toMatchObject({ type: "rescan", agents: ["architect", "coder", "tester"] });
    expect(daemon.agents).toContain("tester");
    expect((await collect(tree, send("x"), "tester")).at(-1)).toMatchObject({ status: "ok" });
    expect(lstatSync(tree.alias("reviewer"), { throwIfNoEntry: false })).toBeUndefined();
  });

  test("one whose socket was removed or overwritten is bound again when a client looks", async () => {
    const tree = newTree();
    await serveTree(tree);
    const socket = readlinkSync(tree.alias("coder"));
    rmSync(socket);
    expect((await collect(tree, send("x"))).at(-1)).toMatchObject({ status: "ok" });
    rmSync(socket);
    writeFileSync(socket, "precious");
    const attempt = collect(tree, send("x"));
    await expect(attempt).rejects.toMatchObject({ code: "EEXIST" });
    expect(readFileSync(socket, "utf8")).toBe("precious");
    rmSync(socket);
    expect((await collect(tree, send("x"))).at(-1)).toMatchObject({ status: "ok" });
  });

  test("an agent nobody made is ENOENT, a file at the alias's name is a fault and stays", async () => {
    const tree = newTree();
    writeFileSync(tree.alias("coder"), "precious");
    const { daemon } = await serveTree(tree);
    expect(daemon.faults).toMatchObject([{ agent: "coder", error: { code: "EEXIST" } }]);
    const attempt = collect(tree, send("x"), "nobody");
    expect(attempt).rejects.toMatchObject({ code: "ENOENT" });
    await attempt.catch(() => {});
    await daemon.stop();
    expect(lstatSync(tree.alias("coder")).isFile()).toBe(true);
  });
});
