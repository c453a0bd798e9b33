// The five floors as data, and the rule that keeps them: a module imports its own folder, the doors
// (`mod.ts`) of lower floors, and on its own floor only what is listed here with a reason.

import { posix } from "node:path";
import { readSyntax } from "./syntax.ts";
import { isTest, type SourceFile } from "./tree.ts";

const floors: Readonly<Record<string, number>> = {
  abi: 0,
  frame: 0,
  interaction: 0,
  control: 0,
  policy: 0,
  sandbox: 0,
  prompt: 0,
  wire: 0,
  envelope: 0,
  capability: 0,
  "tool-native": 0,
  window: 0,
  "tool-context": 0,
  "terminal-wire": 0,
  "shell-line": 0,
  manifest: 0,
  "mcp-wire": 0,
  "mcp-tool": 0,
  os: 1,
  sock: 1,
  bwrap: 1,
  pty: 1,
  screen: 1,
  systemd: 1,
  tree: 2,
  "session-log": 2,
  secret: 2,
  receipt: 2,
  install: 2,
  "json-schema": 2,
  builtin: 3,
  authority: 3,
  launch: 3,
  "mcp-host": 3,
  model: 3,
  session: 3,
  run: 3,
  "run-socket": 3,
  daemon: 3,
  client: 3,
  doctor: 3,
  conformance: 3,
  terminal: 3,
  supervise: 3,
  "terminal-host": 3,
  mcp: 3,
  cli: 4,
  cmd: 4,
  // What authors take along: it stands beside the house and leans on nothing of it.
  sdk: 1,
};

/** What a module may import on its own floor; `abi` may be imported by all of floor 0. */
const neighbours: Readonly<Record<string, readonly string[]>> = {
  // libc and descriptors are the ground that the rest of the machine stands on.
  sock: ["os"],
  bwrap: ["os"],
  pty: ["os"],
  systemd: ["os"],
  // Policy lines are parsed as a control; policy gives them meaning.
  policy: ["control"],
  // The window's setting is a control; window gives it meaning.
  window: ["control"],
  // A manifest carries the texts of controls.
  manifest: ["control"],
  // The full wires are judged in bytes of a line and decode into the neutral shapes.
  wire: ["frame", "interaction"],
  envelope: ["frame"],
  capability: ["frame"],
  // A projected tool is controls in the making, and a configuration is JSON with places.
  "mcp-tool": ["control"],
  "tool-native": ["frame"],
  // A receipt lies in the folder of controls that it speaks of.
  install: ["json-schema", "tree"],
  // A run is the conversation of these.
  run: ["authority", "launch", "mcp-host", "model", "run-socket", "session"],
  // A server is a launch that stays for a run.
  "mcp-host": ["launch"],
  // Calls that run in a terminal are launches that somebody else makes.
  "terminal-host": ["authority", "launch", "run", "run-socket", "session"],
  // A terminal is launched and recorded like any other sandbox, and lives on.
  supervise: ["launch", "terminal"],
  // The daemon puts the services of its floor together and nothing else does.
  daemon: [
    ...[
      "authority",
      "builtin",
      "client",
      "launch",
      "mcp-host",
      "model",
      "run",
      "run-socket",
      "session",
    ],
    ...["supervise", "terminal-host"],
  ],
  cmd: ["cli"],
};

/** Modules that examine the product and are no part of it. */
const outside = ["tidy", "testkit"];

/** Packages and the only modules that may name them; a foreign thing has one owner. */
const owners: Readonly<Record<string, readonly string[]>> = {
  "bun:ffi": ["os"],
  ai: ["model"],
  ajv: ["conformance", "json-schema"],
  "@ai-sdk/openai-compatible": ["model"],
  "@xterm/headless": ["screen"],
  semver: ["manifest"],
  yaml: ["manifest"],
  yargs: ["cli", "cmd"],
  "@modelcontextprotocol/sdk": ["mcp"],
  zod: ["wire", "envelope", "capability", "mcp-wire", "tree"],
};

/** Texts outside of the modules that a program carries inside; embedded, not copied. */
const embedded: Readonly<Record<string, RegExp>> = {
  // The manual, which bootstrap writes into a tree.
  tree: /^docs\/man\/[^/]+\.md$/,
  // What `ctx completion` prints is what a package installs.
  cmd: /^packaging\/completions\/[^/]+$/,
};

/** Names of floor 0's surroundings: with any of these a value would not follow from its inputs. */
const impure = new Set([
  "Bun",
  "process",
  "fetch",
  "crypto",
  "performance",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "Math.random",
  "Date.now",
]);

/** `internal/run/step.ts` is of module run, `cmd/ctx/main.ts` of cmd, `sdk/agent.ts` of sdk. */
export function moduleOf(path: string): string | undefined {
  const [root, name, ...rest] = path.split("/");
  if (root === "cmd" || root === "sdk") return root;
  return root === "internal" && rest.length > 0 ? name : undefined;
}

/** One sentence for each import or name that breaks the rule, with its file and line. */
export function floorViolations(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const module = moduleOf(file.path);
    if (module === undefined || outside.includes(module)) return [];
    const floor = floors[module];
    if (floor === undefined) return [`${file.path}: module "${module}" has no floor`];
    const syntax = readSyntax(file);
    const said = syntax.imports.flatMap(({ specifier, line }) => {
      const why = importRefusal(file.path, module, floor, specifier);
      return why === undefined ? [] : [`${file.path}:${line}: ${why}`];
    });
    if (floor > 0 || isTest(file.path)) return said;
    const names = syntax.names
      .filter(({ name }) => impure.has(name))
      .map(({ name, line }) => `${file.path}:${line}: floor 0 names ${name}`);
    const clocks = syntax.calls
      .filter(({ name, node }) => name === "Date" && (node["arguments"] as unknown[]).length === 0)
      .map(({ line }) => `${file.path}:${line}: floor 0 reads the clock`);
    return [...said, ...names, ...clocks];
  });
}

function importRefusal(
  path: string,
  module: string,
  floor: number,
  specifier: string | undefined,
): string | undefined {
  if (specifier === undefined) return "an import must name its file";
  if (module === "sdk" && !isTest(path)) {
    return specifier.startsWith("node:") ? undefined : `sdk may import "node:" alone`;
  }
  if (!specifier.startsWith(".")) return packageRefusal(path, module, floor, specifier);
  const target = posix.join(posix.dirname(path), specifier);
  const theirs = moduleOf(target);
  if (theirs === module) return module === "cmd" ? foreignCommand(path, target) : undefined;
  if (isTest(path) && (theirs === undefined || !target.startsWith("internal/"))) return undefined;
  if (embedded[module]?.test(target)) return undefined;
  if (theirs === undefined) return `"${specifier}" is outside the modules`;
  if (!/^internal\/[^/]+\/mod\.ts$/.test(target)) {
    return `"${specifier}" reaches past the door of ${theirs}`;
  }
  // A test may set a stage with any module, but through its door like everybody.
  if (isTest(path)) return undefined;
  return floorRefusal(module, floor, theirs);
}

function floorRefusal(module: string, floor: number, theirs: string): string | undefined {
  const below = floors[theirs];
  if (below === undefined) return `module "${theirs}" has no floor`;
  if (below < floor || (floor === 0 && theirs === "abi")) return undefined;
  if (below === floor && neighbours[module]?.includes(theirs)) return undefined;
  return `${module} (floor ${floor}) may not import ${theirs} (floor ${below})`;
}

function packageRefusal(
  path: string,
  module: string,
  floor: number,
  specifier: string,
): string | undefined {
  if (isTest(path)) return undefined;
  if (floor === 0 && /^(?:node:|bun)/.test(specifier)) return `floor 0 imports "${specifier}"`;
  const parts = specifier.split("/");
  const only = owners[parts.slice(0, specifier.startsWith("@") ? 2 : 1).join("/")];
  if (only === undefined || only.includes(module)) return undefined;
  return `"${specifier}" belongs to ${only.join(" and ")}`;
}

/** A program's folder is its own: what two programs share belongs to internal/. */
function foreignCommand(path: string, target: string): string | undefined {
  const own = path.split("/")[1];
  return target.split("/")[1] === own ? undefined : `"${target}" is another program's`;
}
