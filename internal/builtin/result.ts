// What a built-in tool answers, and how its input object is checked. The host has checked the input
// against the tool's schema already; a terminal user has not, and a tool trusts neither.

import { type Code, coded, fail } from "../abi/mod.ts";

export interface BuiltinResult {
  readonly status: "ok" | "error";
  readonly content: string;
  readonly code?: Code;
  /** Said beside the content: that it is cut and how to go on. */
  readonly note?: string;
}

/** How a tool is called: a terminal user gets all of a file, a model what fits its observation. */
export type Audience = "native" | "cli";

export type BuiltinTool = (input: Input, cwd: string, audience: Audience) => BuiltinResult;

export function ok(content: string, note?: string): BuiltinResult {
  return note === undefined ? { status: "ok", content } : { status: "ok", content, note };
}

export function failed(thrown: unknown): BuiltinResult {
  const error = coded(thrown);
  const hint = error.hint === undefined ? "" : `\nhint: ${error.hint}`;
  return { status: "error", code: error.code, content: `${error.message} [${error.code}]${hint}` };
}

/** Reads the fields of a tool's input object; every misuse is EINVAL and names the field. */
export class Input {
  readonly tool: string;
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(tool: string, args: unknown, known: readonly string[]) {
    if (typeof args !== "object" || args === null || Array.isArray(args)) {
      fail("EINVAL", `${tool} takes one JSON object`);
    }
    for (const key of Object.keys(args)) {
      if (!known.includes(key)) {
        const hint = `it takes ${known.join(", ")}`;
        fail("EINVAL", `${tool} does not know the field ${JSON.stringify(key)}`, { hint });
      }
    }
    this.tool = tool;
    this.#fields = args as Record<string, unknown>;
  }

  has(name: string): boolean {
    return this.#fields[name] !== undefined;
  }

  text(name: string): string {
    const value = this.#fields[name];
    if (typeof value === "string") return value;
    return fail("EINVAL", `${this.tool} needs the text field ${JSON.stringify(name)}`);
  }

  /** A path: not empty and without NUL, which the kernel would take for its end. */
  path(): string {
    const value = this.text("path");
    if (value !== "" && !value.includes("\0")) return value;
    return fail("EINVAL", `${this.tool} needs a path that is not empty and has no NUL in it`);
  }

  /** A whole number of at least `least`; undefined when absent. */
  whole(name: string, least: number): number | undefined {
    const value = this.#fields[name];
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
    return fail("EINVAL", `${this.tool} needs a whole number of at least ${least} in "${name}"`);
  }

  flag(name: string): boolean {
    const value = this.#fields[name];
    if (value === undefined || typeof value === "boolean") return value ?? false;
    return fail("EINVAL", `${this.tool} needs true or false in "${name}"`);
  }
}
