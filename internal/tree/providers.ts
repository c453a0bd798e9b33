// Provider files, `providers.d/*.json`: where models are served and how they are spoken to. They
// hold no key. A file that somebody else could write is refused, because its `base_url` decides
// where prompts and keys are sent.

import { closeSync, fstatSync, readdirSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { z } from "zod";
import { CodedError, coded, controlBytesMax, fail, isObjectName, quoted } from "../abi/mod.ts";
import { decodeControl, parseJsonObject, u32Max } from "../control/mod.ts";
import { openBeneath, openPath, readWhole } from "../os/mod.ts";
import { parsedValue } from "./control-file.ts";
import type { Places } from "./place-names.ts";

/** Wire formats, best first where a provider offers several. `openai.chat` is any compatible one. */
export const providerFormats = [
  "openai.responses",
  "openai.chat",
  "anthropic.messages",
  "google.generate",
] as const;

export type ProviderFormat = (typeof providerFormats)[number];

export interface Provider {
  readonly name: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly enabled: boolean;
  readonly formats: readonly ProviderFormat[];
  readonly defaultModel: string | undefined;
  /** What the provider calls them. */
  readonly models: readonly string[];
  /** Context limits in tokens, by model. */
  readonly modelLimits: ReadonlyMap<string, number>;
  /** Parameters of each call, as the adapter understands them. */
  readonly default: Readonly<Record<string, unknown>>;
  /** Where it was read from. */
  readonly file: string;
}

/** Provider files in one folder. Past it EMSGSIZE, none is read. */
const providerFilesMax = 256;

/** The name of the built-in models' provider, which no file may take. */
const reservedName = "debug";

/**
 * Every provider, enabled or not, by name. A missing folder has none. Throws EINVAL naming the file
 * and the place in it, EACCES for a file or folder that others can write, EEXIST for a name twice.
 */
export function loadProviders(places: Pick<Places, "config" | "uid">): Provider[] {
  const folder = join(places.config, "providers.d");
  let fd: number;
  try {
    fd = openPath(folder, "folder");
  } catch (error) {
    const { code, message } = coded(error);
    if (code === "ENOENT") return [];
    return fail(code, `cannot open "${folder}": ${message}`, { cause: error });
  }
  try {
    checkTrusted(fd, folder, places.uid);
    return loadFolder(fd, folder, places.uid);
  } finally {
    closeSync(fd);
  }
}

function loadFolder(fd: number, folder: string, uid: number): Provider[] {
  const names = readdirSync(`/proc/self/fd/${fd}`).filter(
    (name) => name.endsWith(".json") && !name.startsWith("."),
  );
  if (names.length > providerFilesMax) {
    fail("EMSGSIZE", `"${folder}" holds more than ${providerFilesMax} provider files`);
  }
  const found = new Map<string, Provider>();
  for (const name of names.sort()) {
    const provider = parseProvider(readFile(fd, name, join(folder, name), uid), join(folder, name));
    const other = found.get(provider.name);
    if (other) {
      fail("EEXIST", `provider ${quoted(provider.name)} of "${provider.file}" exists already`, {
        hint: `it is in "${other.file}"`,
      });
    }
    found.set(provider.name, provider);
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function readFile(folder: number, name: string, file: string, uid: number): string {
  let fd: number;
  try {
    fd = openBeneath(folder, name, "read");
  } catch (error) {
    const symlink = (error as NodeJS.ErrnoException).code === "ELOOP";
    const { code, message } = coded(error);
    return fail(code, `cannot read "${file}": ${symlink ? "it is a symlink" : message}`, {
      cause: error,
    });
  }
  try {
    checkTrusted(fd, file, uid);
    return parsedValue(decodeControl(readWhole(fd, controlBytesMax)), file);
  } catch (error) {
    if (error instanceof CodedError) throw error;
    const { code, message } = coded(error);
    return fail(code, `cannot read "${file}": ${message}`, { cause: error });
  } finally {
    closeSync(fd);
  }
}

function checkTrusted(fd: number, path: string, uid: number): void {
  const facts = fstatSync(fd);
  if (facts.uid !== 0 && facts.uid !== uid) {
    fail("EACCES", `cannot use "${path}": it belongs to uid ${facts.uid}, not to ${uid} or root`, {
      hint: `run chown ${uid} "${path}"`,
    });
  }
  if ((facts.mode & 0o022) !== 0) {
    const octal = (facts.mode & 0o777).toString(8).padStart(4, "0");
    fail("EACCES", `cannot use "${path}": others may write it (mode ${octal})`, {
      hint: `run chmod go-w "${path}"`,
    });
  }
}

// Made at the first use: loading a tree must not pay for it.
function makeSchema() {
  const modelId = z.string().regex(/^\S{1,256}$/, "is not 1 to 256 characters without spaces");
  return z.strictObject({
    name: z.string().optional(),
    base_url: z.string(),
    enabled: z.boolean().default(true),
    formats: z.array(z.enum(providerFormats)).min(1).default(["openai.chat"]),
    default_model: modelId.optional(),
    models: z.array(modelId).max(10_000).default([]),
    model_limits: z.record(modelId, z.int().min(1).max(u32Max)).default({}),
    default: z.record(z.string(), z.json()).default({}),
  });
}

let schema: ReturnType<typeof makeSchema> | undefined;

/** Parses one provider file. EINVAL with the file and line, or the path in the JSON. */
export function parseProvider(text: string, file: string): Provider {
  const value = parsedValue(parseJsonObject(text), file);
  schema ??= makeSchema();
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return invalid(file, jsonPath(issue?.path ?? []), issue?.message ?? "it is not valid");
  }
  const data = parsed.data;
  const url = checkUrl(data.base_url, file);
  if (new Set(data.formats).size !== data.formats.length) {
    invalid(file, "$.formats", "a format is repeated");
  }
  return {
    name: providerName(data.name, url, file),
    baseUrl: data.base_url.replace(/\/+$/, ""),
    enabled: data.enabled,
    formats: data.formats,
    defaultModel: data.default_model,
    models: data.models,
    modelLimits: new Map(Object.entries(data.model_limits)),
    default: data.default,
    file,
  };
}

function checkUrl(text: string, file: string): URL {
  const at = "$.base_url";
  if (!URL.canParse(text)) return invalid(file, at, `${quoted(text)} is not a URL`);
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    invalid(file, at, "only http and https are spoken");
  }
  if (url.username !== "" || url.password !== "") {
    invalid(file, at, "it holds a user or password; keys belong in the secret store");
  }
  if (url.search !== "" || url.hash !== "") invalid(file, at, "it holds a query or a fragment");
  return url;
}

/** The given name; else the host's main label, `api.openai.com` being `openai`. */
function providerName(given: string | undefined, url: URL, file: string): string {
  const name = given ?? nameOfHost(url.hostname);
  if (name === undefined) {
    return invalid(file, "$.name", `it is missing, and host ${quoted(url.hostname)} gives no name`);
  }
  if (!isObjectName(name)) return invalid(file, "$.name", `${quoted(name)} is not a valid name`);
  if (name === reservedName) return invalid(file, "$.name", `"${reservedName}" is built in`);
  return name;
}

function nameOfHost(host: string): string | undefined {
  const labels = host.split(".").filter((label) => label !== "");
  const numeric = host.startsWith("[") || isIP(host) !== 0;
  if (numeric || labels.length < 2 || labels.at(-1) === "localhost") return undefined;
  return labels.at(-2);
}

function jsonPath(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`));
  return `$${parts.join("")}`;
}

function invalid(file: string, at: string, reason: string): never {
  return fail("EINVAL", `"${file}" at ${at}: ${reason}`);
}
