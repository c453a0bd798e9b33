// `ctx doctor`: one line a check, and what to do about each that is not well.

import { productVersion } from "../../internal/abi/mod.ts";
import { escapeLine, printJson, printRaw, styled, wantsColour } from "../../internal/cli/mod.ts";
import { askControl } from "../../internal/client/mod.ts";
import {
  type Check,
  examine,
  failure,
  failureOf,
  warning,
  well,
} from "../../internal/doctor/mod.ts";
import type { Places } from "../../internal/tree/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { placesOf } from "./context.ts";

export const spec: CommandSpec = {
  name: "doctor",
  words: "",
  summary: "Checks the installation and says what to do about what is wrong.",
  positionals: {},
  options: {},
  examples: [
    ["doctor", "one line a check"],
    ["doctor --json", "one JSON object a check: name, level, text, fix"],
  ],
};

/** 0 when nothing failed; warnings do not count. */
export async function run(args: Arguments): Promise<number> {
  const places = placesOf(args);
  const checks = [...(await examine(places)), ...(await serverChecks(places))];
  const colour = wantsColour(1, process.env);
  for (const check of checks) {
    if (args.flag("json")) printJson(check);
    else printCheck(check, colour);
  }
  return checks.some(({ level }) => level === "fail") ? 1 : 0;
}

const colours = { ok: "green", warn: "yellow", fail: "red" } as const;

function printCheck({ level, name, text, fix }: Check, colour: boolean): void {
  const word = styled(colour, colours[level], level.padEnd(4));
  printRaw(`${word}  ${escapeLine(name).padEnd(16)} ${escapeLine(text)}\n`);
  if (fix !== undefined) printRaw(`      ${" ".repeat(16)} fix: ${escapeLine(fix)}\n`);
}

async function serverChecks(places: Places): Promise<Check[]> {
  try {
    const reply = await askControl(places, "ping");
    if (reply.type !== "pong") return [failure("server", "it is stopping")];
    const faults = reply.faults.map(({ agent, code, message, hint }) =>
      failure(`agent ${agent}`, `not served: ${message} [${code}]`, hint),
    );
    return [versionCheck(reply), ...faults];
  } catch (error) {
    const found = failureOf("server", error);
    if (!found.text.endsWith("[EHOSTDOWN]")) return [found];
    return [well("server", "ctxd is not running; the first ctx agent send starts it")];
  }
}

function versionCheck(reply: { pid: number; version: string }): Check {
  if (reply.version === productVersion) return well("server", `ctxd runs as pid ${reply.pid}`);
  const text = `ctxd is version ${reply.version}, this is ${productVersion}`;
  return warning("server", text, `restart it: kill ${reply.pid}`);
}
