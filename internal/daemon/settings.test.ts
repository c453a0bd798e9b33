import { describe, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { CodedError } from "../abi/mod.ts";
import { applySettings, defaultSettings, parseSettings, settingKeys } from "./settings.ts";
import { loadSettings } from "./settings-file.ts";

const thrown = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
};

describe("parseSettings()", () => {
  test("reads every key over the defaults, with comments and blank lines", () => {
    const text =
      "# host\nrecord=digest\n\nroot_agents=allow\nmodel_steps=8\nlaunches_parallel=2\n" +
      "session_idle_ms=1000\ntool_timeout_ms=5000\nstep_timeout_ms=700\napproval_timeout_ms=900\n" +
      "terminal_memory_mib=512\nterminal_tasks=0\nterminal_cpu_percent=150\n";
    expect(parseSettings(text, "ctxd.conf")).toEqual({
      record: "digest",
      rootAgents: true,
      modelSteps: 8,
      launchesParallel: 2,
      sessionIdleMs: 1000,
      toolTimeoutMs: 5000,
      stepTimeoutMs: 700,
      approvalTimeoutMs: 900,
      terminalMemoryMib: 512,
      terminalTasks: 0,
      terminalCpuPercent: 150,
    });
    expect(parseSettings("", "ctxd.conf")).toEqual(defaultSettings);
  });

  test.each([
    ["colour=red\n", 1, 1],
    ["record=arguments\nrecord=digest\n", 2, 1],
    ["\nmodel_steps=0\n", 2, 13],
    ["model_steps=1e3\n", 1, 13],
    ["root_agents=yes\n", 1, 13],
    ["record=\n", 1, 8],
    ["record\n", 1, 1],
    ["__proto__=x\n", 1, 1],
    ["record=toString\n", 1, 8],
    ["record=digest", 1, 1],
  ])("refuses %j at its place", (text, line, column) => {
    const place = { file: "ctxd.conf", line, column };
    expect(thrown(() => parseSettings(text, "ctxd.conf"))).toMatchObject({ code: "EINVAL", place });
  });

  test("any text gives settings or EINVAL, nothing else", () => {
    const item = fc.oneof(
      fc.string(),
      fc.tuple(fc.constantFrom(...settingKeys), fc.string()).map((pair) => pair.join("=")),
    );
    fc.assert(
      fc.property(fc.array(item), (items) => {
        const error = thrown(() => parseSettings(`${items.join("\n")}\n`, "f"));
        if (error !== undefined) expect((error as CodedError).code).toBe("EINVAL");
      }),
    );
  });
});

test("applySettings() lets the last of several win and names a wrong one", () => {
  const pairs = ["model_steps=3", "model_steps=4"];
  expect(applySettings(defaultSettings, pairs).modelSteps).toBe(4);
  expect(thrown(() => applySettings(defaultSettings, ["a"]))).toBeInstanceOf(CodedError);
});

describe("loadSettings()", () => {
  test("takes the defaults without a file and refuses one that others may write or own", () => {
    const folder = mkdtempSync("/tmp/cortexfs-settings-");
    const file = join(folder, "ctxd.conf");
    try {
      expect(loadSettings(folder)).toEqual(defaultSettings);
      writeFileSync(file, "model_steps=9\n");
      expect(loadSettings(folder, ["record=digest"])).toMatchObject({
        modelSteps: 9,
        record: "digest",
      });
      chmodSync(file, 0o666);
      expect(thrown(() => loadSettings(folder))).toMatchObject({ code: "EACCES" });
      chmodSync(file, 0o644);
      if (process.getuid?.() !== 0) {
        console.log("SKIP settings of another owner: only root can give a file away");
        return;
      }
      chownSync(file, 12345, 12345);
      expect(thrown(() => loadSettings(folder))).toMatchObject({ code: "EACCES" });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
