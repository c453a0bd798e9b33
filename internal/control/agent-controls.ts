// The controls of an agent, one row each: its grammar, what its absence means and who writes it.
// `tree` loads an agent by this table, and `ctx set` checks a new value by it.

import { quoted } from "../abi/mod.ts";
import { labelItem, parentItem, permItem } from "./identity.ts";
import { type JsonObject, parseJsonLines, parseJsonObject } from "./json.ts";
import { parseModelChoices } from "./model-choice.ts";
import { parseMount } from "./mount.ts";
import { parseEnv } from "./pairs.ts";
import { parseAllowLines } from "./policy-lines.ts";
import { type ControlTable, optional, required, runtimeOwned } from "./row.ts";
import {
  decimal,
  idMax,
  objectNameItem,
  pathItem,
  searchFolderItem,
  single,
  u32Max,
  word,
} from "./scalar.ts";
import { accept, parseList, parseText, refuse } from "./text.ts";
import type { AgentControls, AllowLine, Parsed } from "./types.ts";

/** What each control's text parses to. `policy` is lines here and becomes a set in `policy`. */
export interface AgentControlValues
  extends Omit<AgentControls, "policy" | "parent" | "uid" | "gid"> {
  readonly uid: number;
  readonly gid: number;
  readonly parent: string;
  readonly policy: readonly AllowLine[];
  readonly "system.md": string;
  readonly "prompt.template.md": string;
  readonly status: AgentStatus;
  readonly pid: number | undefined;
  readonly log: readonly JsonObject[];
  readonly "meta.json": JsonObject;
}

export type AgentStatus = (typeof statusWords)[number];
const statusWords = ["start", "ready", "busy", "idle", "stopping", "dead"] as const;

export type AgentControlName = keyof AgentControlValues;

const id = (what: string) => single(decimal(what, 0, idMax));

/**
 * Absent `uid` and `gid` mean the owner. Absent lists are empty, an absent profile is the
 * strictest, and the places are those of the default sandbox. Nothing else may be absent.
 */
export const agentControls: ControlTable<AgentControlValues> = {
  owner: required(id("owner")),
  uid: optional(id("uid")),
  gid: optional(id("gid")),
  groups: optional((text) => parseList(text, decimal("group", 0, idMax), "allowed"), []),
  perm: required(single(permItem)),
  label: required(single(labelItem)),
  iso: optional(single(word("iso", ["shared", "uid", "userns"])), "userns"),
  parent: optional(single(parentItem)),
  life: optional(single(word("life", ["owned", "temp"])), "owned"),
  root: optional(single(pathItem), "/"),
  cwd: optional(single(pathItem), "/workspace"),
  env: optional(parseEnv, new Map<string, string>()),
  path: required((text) => parseList(text, searchFolderItem, "allowed")),
  mount: optional(parseMount, []),
  model: required(parseModelChoices),
  window: required(parseWindow),
  policy: required(parseAllowLines),
  tools: optional(parseTools, []),
  abi: required(single(word("abi", ["sdk-envelope-v1"]))),
  approval: optional(single(word("approval", ["auto", "ask"])), "auto"),
  "system.md": optional(parseText),
  "prompt.template.md": optional(parseText),
  status: runtimeOwned(single(word("status", statusWords))),
  pid: runtimeOwned(parsePid),
  log: runtimeOwned(parseJsonLines),
  "meta.json": runtimeOwned(parseJsonObject),
};

export function parseAgentControl<N extends AgentControlName>(
  name: N,
  text: string,
): Parsed<AgentControlValues[N]> {
  return agentControls[name].parse(text);
}

/** `auto`, or a positive canonical u32 of tokens. */
function parseWindow(text: string): Parsed<"auto" | number> {
  return single((line) =>
    line.text === "auto" ? accept<"auto" | number>("auto") : decimal("window", 1, u32Max)(line),
  )(text);
}

/** Direct-native tools. `tsh` is always there, so naming it is a misunderstanding. */
function parseTools(text: string): Parsed<readonly string[]> {
  const item = objectNameItem("tool");
  return parseList(
    text,
    (line) => {
      if (line.text !== "tsh") return item(line);
      return refuse(line.number, 1, `tool ${quoted("tsh")} is always there and may not be listed`);
    },
    "refused",
  );
}

/** Largest pid of a 64-bit kernel (PID_MAX_LIMIT). */
const pidMax = 4_194_304;

function parsePid(text: string): Parsed<number | undefined> {
  if (text === "" || text === "\n") return accept(undefined);
  return single(decimal("pid", 1, pidMax))(text);
}
