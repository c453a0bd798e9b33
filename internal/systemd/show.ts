// What `systemctl show` says: lines NAME=VALUE, one block a unit. Never its prose, which is translated.

export type Properties = Readonly<Record<string, string>>;

/** The first block; a value may hold "=". */
export function parseShow(text: string): Properties {
  const found: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const at = line.indexOf("=");
    if (at > 0) found[line.slice(0, at)] = line.slice(at + 1);
    else if (line === "" && Object.keys(found).length > 0) break;
  }
  return found;
}

export const unitProperties = [
  ...["Id", "LoadState", "ActiveState", "InvocationID", "MainPID", "ControlGroup"],
] as const;

export interface UnitFacts {
  /** With its suffix. */
  readonly name: string;
  /** Something of it lives or may live. */
  readonly active: boolean;
  /** 32 hex digits; undefined when the unit is not loaded or was never started. */
  readonly invocation: string | undefined;
  /** Its main process. */
  readonly pid: number | undefined;
  /** As systemd names it, from the root of its hierarchy; undefined when it has none. */
  readonly group: string | undefined;
}

/** Undefined when the manager knows no such unit, which is how a collected one looks. */
export function unitFacts(properties: Properties): UnitFacts | undefined {
  if (properties["LoadState"] !== "loaded") return undefined;
  const state = properties["ActiveState"] ?? "";
  const invocation = properties["InvocationID"] ?? "";
  const pid = Number(properties["MainPID"] ?? "0");
  return {
    name: properties["Id"] ?? "",
    active: state !== "inactive" && state !== "failed" && state !== "",
    invocation: /^[0-9a-f]{32}$/.test(invocation) ? invocation : undefined,
    pid: Number.isSafeInteger(pid) && pid > 1 ? pid : undefined,
    group: properties["ControlGroup"] || undefined,
  };
}
