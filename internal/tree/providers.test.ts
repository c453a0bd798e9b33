import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRoot, refusal, TestTree, uid } from "../../testdata/tree/test-tree.ts";
import {
  loadModel,
  loadProviders,
  materializeModel,
  modelNames,
  modelObjectName,
  parseProvider,
  writeControl,
} from "./mod.ts";

// Every tree is synced to the disk, which a busy machine makes slow.
setDefaultTimeout(60_000);

let tree: TestTree;
let places = { config: "", uid };
beforeEach(() => {
  tree = new TestTree();
  places = { config: join(tree.base, "config"), uid };
  mkdirSync(join(places.config, "providers.d"), { recursive: true, mode: 0o755 });
});
afterEach(() => tree.destroy());

function put(name: string, value: unknown): string {
  const file = join(places.config, "providers.d", name);
  writeFileSync(file, typeof value === "string" ? value : JSON.stringify(value), { mode: 0o644 });
  return file;
}

const local = {
  name: "local",
  base_url: "http://127.0.0.1:8080/v1/",
  enabled: true,
  formats: ["openai.chat"],
  default_model: "qwen",
  models: ["qwen", "meta/llama-3:8b"],
  model_limits: { qwen: 32768 },
  default: { temperature: 0.2 },
};

describe("provider files", () => {
  test("are read by name, other files are passed over, no folder is no provider", () => {
    const file = put("b.json", local);
    put("a.json", { base_url: "https://openrouter.ai/api/v1" });
    put(".hidden.json", "{");
    put("note.txt", "{");
    expect(loadProviders(places)).toEqual([
      {
        name: "local",
        baseUrl: "http://127.0.0.1:8080/v1",
        enabled: true,
        formats: ["openai.chat"],
        defaultModel: "qwen",
        models: ["qwen", "meta/llama-3:8b"],
        modelLimits: new Map([["qwen", 32768]]),
        default: { temperature: 0.2 },
        file,
      },
      {
        name: "openrouter",
        baseUrl: "https://openrouter.ai/api/v1",
        enabled: true,
        formats: ["openai.chat"],
        defaultModel: undefined,
        models: [],
        modelLimits: new Map(),
        default: {},
        file: join(places.config, "providers.d/a.json"),
      },
    ]);
    expect(loadProviders({ ...places, config: join(tree.base, "none") })).toEqual([]);
  });

  test("are refused with the place of what is wrong", () => {
    const cases: [object, string][] = [
      [{ api_key: "sk-1" }, "$"],
      [{ base_url: 7 }, "$.base_url"],
      [{ base_url: "ftp://host.example/" }, "$.base_url"],
      [{ base_url: "https://user:pass@host.example/" }, "$.base_url"],
      [{ base_url: "https://host.example/?key=1" }, "$.base_url"],
      [{ base_url: "host.example" }, "$.base_url"],
      [{ enabled: "yes" }, "$.enabled"],
      [{ formats: [] }, "$.formats"],
      [{ formats: ["openai.chat", "smoke.signals"] }, "$.formats[1]"],
      [{ formats: ["openai.chat", "openai.chat"] }, "$.formats"],
      [{ models: ["a b"] }, "$.models[0]"],
      [{ model_limits: { qwen: 0 } }, "$.model_limits.qwen"],
      [{ model_limits: { qwen: 2 ** 32 } }, "$.model_limits.qwen"],
      [{ model_limits: { qwen: 1.5 } }, "$.model_limits.qwen"],
      [{ default: [] }, "$.default"],
      [{ name: "" }, "$.name"],
      [{ name: "a/b" }, "$.name"],
      [{ name: "debug" }, "$.name"],
    ];
    for (const [wrong, at] of cases) {
      const error = refusal(() => parseProvider(JSON.stringify({ ...local, ...wrong }), "/p.json"));
      expect([error.code, error.message.startsWith(`"/p.json" at ${at}: `), error.message]).toEqual(
        ["EINVAL", true, error.message],
      );
      expect(error.message).not.toContain("sk-1");
    }
    const syntax = refusal(() => parseProvider('{\n  "name": local\n}', "/p.json"));
    expect(syntax.place).toEqual({ file: "/p.json", line: 2, column: 11 });
  });

  test("need a name where the host gives none", () => {
    const { name: _, ...nameless } = local;
    const hosts = ["127.0.0.1:1", "[::1]:1", "localhost", "a.localhost", "10.0.0.1", "vllm"];
    for (const host of hosts) {
      const text = JSON.stringify({ ...nameless, base_url: `http://${host}/v1` });
      const error = refusal(() => parseProvider(text, "/p.json"));
      expect([host, error.message.startsWith('"/p.json" at $.name: ')]).toEqual([host, true]);
    }
    const named = { ...nameless, base_url: "https://api.openai.com/v1" };
    expect(parseProvider(JSON.stringify(named), "/p.json").name).toBe("openai");
  });

  test("that give one name twice are refused, with both files", () => {
    put("a.json", local);
    put("b.json", local);
    const error = refusal(() => loadProviders(places));
    expect([error.code, error.hint?.includes("a.json")]).toEqual(["EEXIST", true]);
    expect(error.message).toContain("b.json");
  });

  test("that others could write, or that are symlinks, are refused", () => {
    const file = put("a.json", local);
    chmodSync(file, 0o664);
    expect(refusal(() => loadProviders(places)).message).toContain("mode 0664");
    chmodSync(file, 0o644);
    chmodSync(join(places.config, "providers.d"), 0o777);
    expect(refusal(() => loadProviders(places)).code).toBe("EACCES");
    chmodSync(join(places.config, "providers.d"), 0o755);
    symlinkSync(file, join(places.config, "providers.d/z.json"));
    expect(refusal(() => loadProviders(places)).message).toContain("symlink");
    rmSync(join(places.config, "providers.d/z.json"));
    if (!isRoot) return console.log("SKIP another owner: chown needs root");
    chownSync(file, 61184, 61184);
    expect(refusal(() => loadProviders(places)).message).toContain("belongs to uid 61184");
    expect(loadProviders({ ...places, uid: 61184 }).length).toBe(1);
  });
});

describe("materializeModel()", () => {
  beforeEach(() => {
    tree.bootstrap();
    put("local.json", local);
  });

  test("makes a model object with the provider's facts", () => {
    const open = tree.open();
    const ref = materializeModel(open, places, "local", "qwen");
    expect(ref).toEqual({ provider: "local", model: "qwen" });
    expect(loadModel(open, ref)).toMatchObject({
      ref,
      id: "qwen",
      driver: "openai.chat",
      limit: 32768,
      parameters: { temperature: 0.2 },
      cap: ["chat", "stream", "tool_call_syntax"],
      policy: undefined,
    });
    expect(modelNames(open)).toEqual(["debug/echo", "debug/script", "local/qwen"]);
    // A later bootstrap neither refuses nor touches it.
    expect(tree.bootstrap().changed).toBe(false);
    open.close();
  });

  test("again brings the limit up to date and keeps a person's edits", () => {
    const open = tree.open();
    const ref = materializeModel(open, places, "local", "qwen");
    writeControl(open, "model/local/qwen.d/effort", "high\n");
    materializeModel(open, places, "local", "qwen", 1000);
    expect(loadModel(open, ref)).toMatchObject({ limit: 1000, effort: "high" });
    open.close();
  });

  test("keeps the provider's own name of a model that is no object name", () => {
    const open = tree.open();
    const ref = materializeModel(open, places, "local", "meta/llama-3:8b");
    expect(ref.model).toBe("meta-llama-3-8b");
    expect(loadModel(open, ref)).toMatchObject({ id: "meta/llama-3:8b", limit: undefined });
    const clash = refusal(() => materializeModel(open, places, "local", "meta:llama-3-8b"));
    expect(clash.code).toBe("EEXIST");
    for (const id of ["", "/x", "x.sock", "x".repeat(65)]) {
      expect(refusal(() => modelObjectName(id)).code).toBe("EINVAL");
    }
    open.close();
  });

  test("refuses an unknown provider and a wrong limit", () => {
    const open = tree.open();
    const unknown = refusal(() => materializeModel(open, places, "acme", "m"));
    expect([unknown.code, unknown.hint?.includes("providers.d/acme.json")]).toEqual([
      "ENOENT",
      true,
    ]);
    for (const limit of [0, -1, 1.5, 2 ** 32]) {
      const wrong = refusal(() => materializeModel(open, places, "local", "qwen", limit));
      expect(wrong.code).toBe("EINVAL");
    }
    expect(modelNames(open)).toEqual(["debug/echo", "debug/script"]);
    open.close();
  });
});
