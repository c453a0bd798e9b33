// `ctxmcp project`: a server's tools as manifests in a folder, for a person to look at and install.

import { createHash } from "node:crypto";
import { fail } from "../../internal/abi/mod.ts";
import { note, parseFlags, print, printJson, printRaw } from "../../internal/cli/mod.ts";
import {
  manifestName,
  manifestText,
  objectText,
  type Projected,
  projectTools,
  type Skipped,
  secretLooking,
  variablesOf,
} from "../../internal/mcp-tool/mod.ts";
import { type Candidate, type Outcome, writeCandidates } from "./candidate-files.ts";
import { definitionName, differences, hasOutputSchema } from "./difference.ts";
import { projectHelp } from "./help.ts";
import { needed, noWords, serverOptions, sharedFlags } from "./options.ts";
import { usable } from "./usable.ts";
import { type Connected, withServer } from "./with-server.ts";

const projectFlags = {
  ...sharedFlags,
  "runtime-config": "value",
  out: "value",
  only: "values",
  "dry-run": "switch",
  force: "switch",
  diff: "switch",
} as const;

export async function run(argv: readonly string[]): Promise<number> {
  const flags = parseFlags(argv, projectFlags);
  if (flags.on.has("help")) {
    printRaw(projectHelp);
    return 0;
  }
  noWords("project", flags.words);
  const diff = flags.on.has("diff");
  for (const other of ["dry-run", "force"]) {
    if (diff && flags.on.has(other)) fail("EINVAL", `--diff and --${other} exclude each other`);
  }
  const options = serverOptions(flags);
  const out = needed(flags, "out", "DIR");
  // Nothing of a difference depends on it.
  const runtimeConfig = diff
    ? (flags.value.get("runtime-config") ?? "/")
    : needed(flags, "runtime-config", "PATH");
  const only = flags.values.get("only");
  return withServer(options, async (connected) => {
    const { name, server, signal } = connected;
    const tools = await server.listTools(signal);
    const input = { server: name, runtimeConfig, tools, ...(only && { only }) };
    const projection = await usable(projectTools(input));
    if (diff) return differences({ server: name, out, only, ...projection }, flags.on.has("json"));
    warnOfSecrets(connected, options.config);
    const candidates = projection.projected.map((tool) => candidate(tool, server.version));
    const written = writeCandidates(out, candidates, {
      dryRun: flags.on.has("dry-run"),
      force: flags.on.has("force"),
    });
    const report = { outcomes: written, skipped: projection.skipped };
    if (flags.on.has("json")) printReportJson(report);
    else printReport(report, flags.on.has("dry-run"), out);
    const missed = only !== undefined && projection.skipped.length > 0;
    return missed || written.some((one) => one.what === "kept") ? 1 : 0;
  });
}

function candidate(tool: Projected, serverVersion: string): Candidate {
  const executable = objectText(tool.object, sha256(tool.definition));
  const manifest = manifestText({ tool, serverVersion, sha256: sha256(executable) });
  // The manifest last: what it names is there by then.
  const files = [
    { name: tool.object, text: executable, mode: 0o755 },
    { name: manifestName(tool.object), text: manifest, mode: 0o644 },
  ];
  // All else that is pinned stands in the manifest.
  if (!hasOutputSchema(tool)) return { object: tool.object, files };
  const definition = {
    name: definitionName(tool.object),
    text: `${tool.definition}\n`,
    mode: 0o644,
  };
  return { object: tool.object, files: [definition, ...files] };
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

function warnOfSecrets({ name, entry }: Connected, config: string): void {
  for (const field of secretLooking(entry)) {
    const place = `${field} of server "${name}" in "${config}"`;
    note(`warning: ${place} looks like a secret, and who reads the file reads it`);
    note("  hint: name a variable there and keep the secret with ctx auth login");
  }
  for (const { name: variable, field, fallback } of variablesOf(entry)) {
    if (field.startsWith("env.") || fallback !== undefined) continue;
    const place = `${field} of server "${name}" in "${config}"`;
    note(`warning: ${place} uses ${variable}: an agent's server gets stored values in env alone`);
  }
}

interface Report {
  readonly outcomes: readonly Outcome[];
  readonly skipped: readonly Skipped[];
}

function printReportJson({ outcomes, skipped }: Report): void {
  const of = (what: Outcome["what"]) =>
    outcomes.filter((one) => one.what === what).map((one) => one.object);
  const [written, unchanged, kept] = [of("written"), of("unchanged"), of("kept")];
  printJson({ written, unchanged, kept, skipped });
}

function printReport({ outcomes, skipped }: Report, dryRun: boolean, out: string): void {
  const would = dryRun ? "would be written" : "written";
  const lines = outcomes.map(({ object, what, why }) => {
    const word = what === "written" ? would : what;
    return `${word.padEnd(9)}  ${object}${why === undefined ? "" : `: ${why}`}`;
  });
  for (const { tool, reason } of skipped) lines.push(`skipped    ${shown(tool)}: ${reason}`);
  const count = (what: Outcome["what"]) => outcomes.filter((one) => one.what === what).length;
  const counts = [`${count("written")} ${would}`, `${count("unchanged")} unchanged`];
  if (count("kept") > 0) counts.push(`${count("kept")} kept`);
  counts.push(`${skipped.length} skipped`);
  print([...lines, `${counts.join(", ")}, in ${out}`].join("\n"));
}

/** A name that a server gave, on one line. */
function shown(name: string): string {
  const cut = name.length > 96 ? `${name.slice(0, 96)}…` : name;
  return JSON.stringify(cut);
}
