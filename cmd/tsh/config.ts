// `tsh config`: where tools are looked for, and the bounds of what a session has loaded.

import { readFileSync } from "node:fs";
import { coded, fail } from "../../internal/abi/mod.ts";
import { print, printJson, viewPath } from "../../internal/cli/mod.ts";
import { parseToolControl, shellConfigDefault } from "../../internal/control/mod.ts";
import type { ToolPath } from "./tool-path.ts";

const configPath = "/ctx/tool/tsh.d/config";

export function runConfig(path: ToolPath, words: readonly string[], json: boolean): number {
  if (words.length > 0) {
    return fail("EINVAL", "tsh config takes no words", {
      hint: "the tool tsh.config changes the configuration: tsh tsh.config max_loaded_tools=32",
    });
  }
  const { maxLoadedTools, cacheCapacity, windowPercent } = bounds(viewPath(path.root, configPath));
  const facts = {
    ctx_path: path.folders,
    max_loaded_tools: maxLoadedTools,
    cache_capacity: cacheCapacity,
    window_percent: windowPercent,
  };
  if (json) printJson(facts);
  else {
    print(`CTX_PATH=${path.folders.join(":")}`);
    for (const [name, value] of Object.entries(facts).slice(1)) print(`${name}=${value}`);
  }
  return 0;
}

/** An absent file sets the defaults. EINVAL with the place. */
function bounds(file: string) {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (coded(error).code === "ENOENT") return shellConfigDefault;
    throw error;
  }
  const parsed = parseToolControl("config", text);
  if (parsed.ok) return parsed.value;
  const { code, line, column, reason } = parsed;
  return fail(code, reason, { place: { file, line, column } });
}
