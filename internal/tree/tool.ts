// A tool object as one value: what a model is shown of it, what its input is checked against, and
// its own policy. A malformed control makes the tool unavailable, whichever control it is.

import { CodedError, fail, objectName, quoted } from "../abi/mod.ts";
import {
  type McpLocator,
  type Policy,
  type ToolControlName,
  type ToolControlValues,
  toolControls,
} from "../control/mod.ts";
import { policyOf } from "../policy/mod.ts";
import { readHead, runsObjectRunner } from "./agent.ts";
import { isBuiltinTool } from "./builtin-tools.ts";
import { parsedValue } from "./control-file.ts";
import { type Tree, viewToSource } from "./open.ts";
import { factsSeen, textSeen } from "./sight.ts";
import { type Sight, whileSame } from "./value-cache.ts";

export interface ToolObject {
  readonly name: string;
  /** Where an agent sees it, e.g. "/ctx/tool/fs.read". */
  readonly viewPath: string;
  readonly hostPath: string;
  /** Run by `ctx` itself, by its name; an installed program otherwise. */
  readonly builtin: boolean;
  readonly description: string;
  /** JSON Schema of the input; draft by its `$schema`, else 2020-12. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly cap: readonly string[];
  /** Undefined when the tool has none, which allows nothing. */
  readonly policy: Policy | undefined;
  /** Path in the tree, whether the file exists or not. */
  readonly policyFile: string;
  /** Of a tool that a server has: where that server is described. */
  readonly mcp?: McpLocator | undefined;
}

/**
 * The tool `name` of one folder of the view. Throws ENOENT when it is not there, EACCES when it is
 * no executable regular file, EINVAL with the place when one of its controls is malformed.
 */
export function loadTool(tree: Tree, viewFolder: string, name: string): ToolObject {
  objectName("tool", name);
  const folder = viewToSource(viewFolder);
  if (folder === undefined) {
    return fail("EINVAL", `tool folder ${quoted(viewFolder)} is not below /ctx`);
  }
  const places = () => [
    { folder, names: [name] },
    { folder: `${folder}/${name}.d`, names: loaded },
  ];
  return whileSame(tree, `${viewFolder}\0${name}`, places, (sight) =>
    toolAt(tree, viewFolder, folder, name, sight),
  );
}

/** Every control that is read here: another text of one of them makes another tool. */
const loaded = ["name", "program", "mcp", "policy", "description", "schema", "cap"] as const;

function toolAt(
  tree: Tree,
  viewFolder: string,
  folder: string,
  name: string,
  sight: Sight,
): ToolObject {
  const object = `${folder}/${name}`;
  checkExecutable(tree, folder, name, sight);
  const read = <N extends ToolControlName & (typeof loaded)[number]>(
    control: N,
  ): ToolControlValues[N] | undefined => {
    const file = `${object}.d/${control}`;
    const row = toolControls[control];
    const text = textSeen(tree, sight, `${object}.d`, control);
    if (text !== undefined) return parsedValue(row.parse(text), file) as ToolControlValues[N];
    if (!row.required) return row.absent as ToolControlValues[N] | undefined;
    return fail("EINVAL", `tool ${quoted(name)} has no control ${quoted(control)}`, {
      hint: `write ${file}`,
    });
  };
  checkName(read("name"), name, `${object}.d/name`);
  // Never acted on, but a malformed one makes the tool unavailable all the same.
  read("program");
  const locator = read("mcp");
  const runner = runsObjectRunner(headOf(tree, folder, name, sight));
  const lines = read("policy");
  return {
    name,
    viewPath: `${viewFolder.replace(/\/$/, "")}/${name}`,
    hostPath: `${tree.source}/${object}`,
    builtin: isBuiltinTool(name) && runner,
    description: (read("description") ?? "").trim(),
    schema: checkSchema(read("schema") ?? {}, `${object}.d/schema`),
    cap: read("cap") ?? [],
    policy: lines === undefined ? undefined : policyOf(lines),
    policyFile: `${object}.d/policy`,
    // Any other program answers for itself, whatever stands beside it.
    mcp: runner && !isBuiltinTool(name) ? locator : undefined,
  };
}

function headOf(tree: Tree, folder: string, name: string, sight: Sight): string {
  return readHead(tree, `${folder}/${name}`, () => textSeen(tree, sight, folder, name) ?? "");
}

function checkExecutable(tree: Tree, folder: string, name: string, sight: Sight): void {
  let facts: ReturnType<typeof factsSeen>;
  try {
    facts = factsSeen(tree, sight, folder, name);
  } catch (error) {
    throw new CodedError("EACCES", `cannot look at tool ${quoted(name)}`, { cause: error });
  }
  if (facts === undefined) fail("ENOENT", `tool ${quoted(name)} does not exist`);
  if (facts.kind !== "file") fail("EACCES", `tool ${quoted(name)} is not a regular file`);
  if ((facts.mode & 0o111) === 0) fail("EACCES", `tool ${quoted(name)} is not executable`);
}

function checkName(control: string | undefined, name: string, file: string): void {
  if (control === name) return;
  fail("EINVAL", `${quoted(file)} line 1, column 1: it says ${quoted(control ?? "")}`, {
    place: { file, line: 1, column: 1 },
  });
}

/** A call's input is one object, so a schema of anything else could accept no call. */
function checkSchema(schema: Record<string, unknown>, file: string): Record<string, unknown> {
  if (schema["type"] === "object") return schema;
  const reason = 'the schema of a tool\'s input needs "type": "object"';
  return fail("EINVAL", `${quoted(file)} line 1, column 1: ${reason}`, {
    place: { file, line: 1, column: 1 },
  });
}
