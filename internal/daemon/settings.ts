// What the administrator of a host decides about ctxd: the file `ctxd.conf` and `--set KEY=VALUE`.
// Pure: text in, settings or a refusal with its place out. A key that is unknown or a value that is
// wrong is an error, never a default.

import { fail, modelStepsMax, type Place, quoted } from "../abi/mod.ts";

export interface Settings {
  /** Whether the log of a session keeps the arguments of tool calls or their digest alone. */
  readonly record: "arguments" | "digest";
  /** Whether an agent may run as the kernel's uid 0; only for containers that have nothing else. */
  readonly rootAgents: boolean;
  /** Model steps in one run. */
  readonly modelSteps: number;
  /** Sandboxes at once; later launches wait. */
  readonly launchesParallel: number;
  /** Time without a client or a run after which a session is closed and its lock given back. */
  readonly sessionIdleMs: number;
  /** Time one tool call may take. Past it its processes are killed: ETIMEDOUT. */
  readonly toolTimeoutMs: number;
  /** Time one step of an executable agent may take. Past it its processes are killed: ETIMEDOUT. */
  readonly stepTimeoutMs: number;
  /** Time a call waits for approval. Past it the call is denied: ETIMEDOUT. */
  readonly approvalTimeoutMs: number;
  /**
   * What one terminal may use where systemd runs it and has the cgroup controller; 0 sets no limit.
   * Past the memory the kernel kills in it, past the tasks a fork fails, past the percents of one
   * processor it waits.
   */
  readonly terminalMemoryMib: number;
  readonly terminalTasks: number;
  readonly terminalCpuPercent: number;
}

export const defaultSettings: Settings = {
  record: "arguments",
  rootAgents: false,
  modelSteps: modelStepsMax,
  launchesParallel: 16,
  sessionIdleMs: 60_000,
  toolTimeoutMs: 120_000,
  stepTimeoutMs: 600_000,
  approvalTimeoutMs: 120_000,
  terminalMemoryMib: 8192,
  // Beside the 256 processes of its sandbox: their threads, and those of the programs around it.
  terminalTasks: 4096,
  terminalCpuPercent: 0,
};

/** A reader gives the part of the settings that a value stands for, or says what is wrong. */
type Reader = (value: string) => Partial<Settings> | string;

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["record", choice("record", { arguments: "arguments", digest: "digest" })],
  ["root_agents", choice("rootAgents", { deny: false, allow: true })],
  ["model_steps", count("modelSteps", 1, 1024)],
  ["launches_parallel", count("launchesParallel", 1, 1024)],
  ["session_idle_ms", count("sessionIdleMs", 100, 86_400_000)],
  ["tool_timeout_ms", count("toolTimeoutMs", 100, 86_400_000)],
  ["step_timeout_ms", count("stepTimeoutMs", 100, 86_400_000)],
  ["approval_timeout_ms", count("approvalTimeoutMs", 100, 86_400_000)],
  ["terminal_memory_mib", count("terminalMemoryMib", 0, 16_777_216)],
  ["terminal_tasks", count("terminalTasks", 0, 1_000_000)],
  ["terminal_cpu_percent", count("terminalCpuPercent", 0, 102_400)],
]);

export const settingKeys: readonly string[] = [...readers.keys()];

function choice<K extends keyof Settings>(field: K, values: Record<string, Settings[K]>): Reader {
  return (value) => {
    if (Object.hasOwn(values, value)) return { [field]: values[value] };
    return `is ${quoted(value)}, not ${Object.keys(values).join(" or ")}`;
  };
}

function count(field: keyof Settings, least: number, most: number): Reader {
  return (value) => {
    const number = /^[0-9]{1,9}$/.test(value) ? Number(value) : -1;
    if (number >= least && number <= most) return { [field]: number };
    return `is ${quoted(value)}, not a whole number from ${least} to ${most}`;
  };
}

/** Text of a `ctxd.conf`; blank lines and `#` comments are free. Throws EINVAL with the place. */
export function parseSettings(text: string, file: string, base = defaultSettings): Settings {
  if (text !== "" && !text.endsWith("\n")) {
    const line = text.split("\n").length;
    refuse("last line does not end in a newline, it may have been cut", { file, line, column: 1 });
  }
  let settings = base;
  const seen = new Map<string, number>();
  for (const [index, raw] of text.split("\n").entries()) {
    const item = raw.trim();
    if (item === "" || item.startsWith("#")) continue;
    const place = { file, line: index + 1, column: 1 };
    const { key, part } = readPair(item, place);
    const earlier = seen.get(key);
    if (earlier !== undefined) refuse(`key "${key}" is set on line ${earlier} already`, place);
    seen.set(key, index + 1);
    settings = { ...settings, ...part };
  }
  return settings;
}

/** `--set KEY=VALUE`, in order; a later one wins. Throws EINVAL. */
export function applySettings(base: Settings, pairs: readonly string[]): Settings {
  const parts = pairs.map(
    (pair, index) => readPair(pair, { file: "--set", line: index + 1, column: 1 }).part,
  );
  return Object.assign({}, base, ...parts);
}

function readPair(item: string, place: Place): { key: string; part: Partial<Settings> } {
  const equals = item.indexOf("=");
  if (equals < 0) refuse(`${quoted(item)} is not KEY=VALUE`, place);
  const key = item.slice(0, equals);
  const reader = readers.get(key);
  if (reader === undefined) {
    return refuse(`key ${quoted(key)} is not one of ${settingKeys.join(", ")}`, place);
  }
  const part = reader(item.slice(equals + 1));
  if (typeof part === "string") {
    return refuse(`${key} ${part}`, { ...place, column: equals + 2 });
  }
  return { key, part };
}

function refuse(reason: string, place: Place): never {
  return fail("EINVAL", `cannot read setting in ${place.file}, line ${place.line}: ${reason}`, {
    place,
  });
}
