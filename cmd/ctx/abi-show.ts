// `ctx abi show`: the tables of the protocols, and of one kind everything that is promised about it.

import { fail } from "../../internal/abi/mod.ts";
import { escapeJson, print, printJson, printRaw } from "../../internal/cli/mod.ts";
import {
  acceptGoldens,
  type Kind,
  kindsOf,
  type Protocol,
  protocolNamed,
  protocols,
  rulesOf,
  type Schema,
  schemaOf,
} from "../../internal/conformance/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";

export const spec: CommandSpec = {
  name: "abi show",
  words: "[protocol] [kind]",
  summary: "Shows the kinds of a protocol, or what is promised about one kind.",
  positionals: {
    protocol:
      "For example op, v1, v2, sdk-envelope, control, tool-native, or interaction/v2; all without it",
    kind: "A kind of that protocol, for example send or hello",
  },
  options: {},
  examples: [
    ["abi show v2", "every kind of the persistent stream"],
    ["abi show op send", "its schema, its rules and a frame that is right"],
  ],
};

export function run(args: Arguments): number {
  const name = args.text("protocol");
  const kind = args.text("kind");
  const json = args.flag("json");
  const chosen = name === undefined ? protocols : [protocolNamed(name)];
  if (kind !== undefined) showKind(chosen[0] as Protocol, kind, json);
  else for (const protocol of chosen) showProtocol(protocol, json);
  return 0;
}

function showProtocol({ name }: Protocol, json: boolean): void {
  const table = kindsOf(name);
  if (json) {
    printJson({ name, ...table, rules: rulesOf(name) });
    return;
  }
  const called = table.abi === name ? "" : `, abi ${JSON.stringify(table.abi)}`;
  print(`${name}${called}, lines to ${table.line_bytes_max} bytes`);
  for (const { kind, side, durable, about } of table.kinds) {
    print(`  ${kind.padEnd(18)} ${side.padEnd(8)} durable ${durable.padEnd(7)} ${about}`);
  }
  print("");
}

function showKind({ name }: Protocol, kind: string, json: boolean): void {
  const { kinds } = kindsOf(name);
  // A kind that both sides send has a row for each.
  const rows = kinds.filter((one) => one.kind === kind);
  if (rows.length === 0) {
    fail("ENOENT", `${name} has no kind ${JSON.stringify(kind)}`, {
      hint: `it has ${[...new Set(kinds.map((one) => one.kind))].join(", ")}`,
    });
  }
  const schema = schemaOfKind(name, kind);
  const rules = rulesOf(name).filter(({ kinds: of }) => of.includes("*") || of.includes(kind));
  const examples = acceptGoldens(name, "accept").filter((golden) => golden.kind === kind);
  const example = examples.find(({ file }) => file.endsWith(`/${kind}.json`)) ?? examples[0];
  if (json) {
    const frame: unknown = example === undefined ? null : JSON.parse(example.text);
    printJson({ protocol: name, kind, rows, schema, rules, example: frame });
    return;
  }
  printRows(name, rows, schema["description"]);
  print(`\nSchema\n${JSON.stringify(schema, undefined, 2).replaceAll(/^/gm, "  ")}`);
  if (rules.length > 0) print("\nRules");
  for (const { name: rule, code, rule: said } of rules) print(`  ${rule} [${code}]: ${said}`);
  if (example === undefined) return;
  print(`\nExample (${example.file})`);
  printRaw(`${escapeJson(example.text.trimEnd())}\n`);
}

function printRows(name: string, rows: readonly Kind[], described: unknown): void {
  for (const { kind, side, correlation, durable, about } of rows) {
    print(`${name} ${kind}: ${about}`);
    const must = correlation.length === 0 ? "nothing" : correlation.join(", ");
    print(`side ${side}; must carry ${must}; durable ${durable}`);
  }
  if (typeof described === "string") print(`\n${described}`);
}

type Definitions = Readonly<Record<string, Schema>>;

/** The definition of a kind with all that it refers to, so that it is a schema by itself. */
function schemaOfKind(name: string, kind: string): Schema {
  const all = (schemaOf(name)["$defs"] ?? {}) as Definitions;
  const needed = new Map<string, Schema>();
  const follow = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      const target = key === "$ref" ? /^#\/\$defs\/(.+)$/.exec(String(inner))?.[1] : undefined;
      const definition = target === undefined ? undefined : all[target];
      if (target === undefined || definition === undefined) follow(inner);
      else if (!needed.has(target)) {
        needed.set(target, definition);
        follow(definition);
      }
    }
  };
  const own = all[kind] ?? {};
  follow(own);
  return needed.size === 0 ? own : { ...own, $defs: Object.fromEntries(needed) };
}
