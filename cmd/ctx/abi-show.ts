// `ctx abi show`: the tables of the protocols, and of one kind everything that is promised about it.

import { fail } from "../../internal/abi/mod.ts";
import { print, printJson, printRaw } from "../../internal/cli/mod.ts";
import {
  acceptGoldens,
  kindsOf,
  type Protocol,
  protocolNamed,
  protocols,
  rulesOf,
  schemaOf,
} from "../../internal/conformance/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";

export const spec: CommandSpec = {
  name: "abi show",
  words: "[protocol] [kind]",
  summary: "Shows the kinds of a protocol, or what is promised about one kind.",
  positionals: {
    protocol: "For example op, v1, v2, sdk-envelope, control, or interaction/v2; all without it",
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
  print(`${name}  ${table.abi}, lines to ${table.line_bytes_max} bytes`);
  for (const { kind, side, durable, about } of table.kinds) {
    print(`  ${kind.padEnd(18)} ${side.padEnd(8)} durable ${durable.padEnd(7)} ${about}`);
  }
  print("");
}

function showKind({ name }: Protocol, kind: string, json: boolean): void {
  const { kinds } = kindsOf(name);
  const found = kinds.find((one) => one.kind === kind);
  if (found === undefined) {
    fail("ENOENT", `${name} has no kind ${JSON.stringify(kind)}`, {
      hint: `it has ${kinds.map((one) => one.kind).join(", ")}`,
    });
  }
  const schema = definitionOf(name, kind);
  const rules = rulesOf(name).filter(({ kinds: of }) => of.includes("*") || of.includes(kind));
  const example = acceptGoldens(name, "accept").find((golden) => golden.kind === kind);
  if (json) {
    const frame: unknown = example === undefined ? null : JSON.parse(example.text);
    printJson({ protocol: name, ...found, schema, rules, example: frame });
    return;
  }
  print(`${name} ${kind}: ${found.about}`);
  const must = found.correlation.length === 0 ? "nothing" : found.correlation.join(", ");
  print(`side ${found.side}; must carry ${must}; durable ${found.durable}`);
  const described = schema["description"];
  if (typeof described === "string" && described !== found.about) print(`\n${described}`);
  print(`\nSchema\n${indented(JSON.stringify(schema, undefined, 2))}`);
  if (rules.length > 0) print("\nRules");
  for (const { name: rule, code, rule: said } of rules) print(`  ${rule} [${code}]: ${said}`);
  if (example !== undefined) {
    print(`\nExample (${example.file})`);
    // A golden is shown as its bytes are; it holds no control character but its newline.
    printRaw(example.text);
  }
}

function definitionOf(name: string, kind: string): Readonly<Record<string, unknown>> {
  const definitions = schemaOf(name)["$defs"] as Record<string, Record<string, unknown>>;
  return definitions[kind] ?? {};
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, "  ");
}
