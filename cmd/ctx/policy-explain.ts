// `ctx policy explain`: the verdict of every layer, by the same function that enforces it.

import { codes, fail } from "../../internal/abi/mod.ts";
import { decide, formatVerdict, gatherFacts, type Question } from "../../internal/authority/mod.ts";
import { print, printJson } from "../../internal/cli/mod.ts";
import {
  classPermissions,
  parsePolicyObject,
  permissionFault,
} from "../../internal/control/mod.ts";
import type { Arguments, CommandSpec } from "./command.ts";
import { loadAgentContext } from "./context.ts";
import { serverIdentity } from "./server-identity.ts";

export const spec: CommandSpec = {
  name: "policy explain",
  words: "<agent> <object> <permission>",
  summary: "Says whether an agent may do something, and what each layer of authority thinks of it.",
  positionals: {
    agent: "Name of the agent",
    object: "CLASS:NAME, for example tool:fs.write or model:debug/echo",
    permission: "What is asked, for example execute, use, read or connect",
  },
  options: {},
  examples: [
    ["policy explain reviewer tool:fs.write execute", "refused, with the line that would allow it"],
    ["policy explain coder network:default connect", "whether it has a network"],
  ],
};

/** 0 when it is allowed, 13 when a layer refuses, 1 when there is no such object. */
export async function run(args: Arguments): Promise<number> {
  const question = questionOf(args.need("object"), args.need("permission"));
  const { places, tree, agent, controls } = loadAgentContext(args, args.need("agent"));
  const server = await serverIdentity(places);
  const verdict = decide(gatherFacts({ tree, agent, controls, server, question }), question);
  if (args.flag("json")) printJson({ agent, ...question, ...verdict });
  else print(formatVerdict(agent, question, verdict));
  return verdict.allowed ? 0 : codes[verdict.code ?? "EACCES"].exit;
}

function questionOf(text: string, permission: string): Question {
  const object = parsePolicyObject(text);
  if (!object.ok) {
    return fail("EINVAL", object.reason, {
      hint: "write CLASS:NAME, for example tool:fs.write",
    });
  }
  const fault = permissionFault(object.value, permission);
  if (fault === undefined) return { object: object.value, permission };
  return fail("EINVAL", fault, {
    hint: `${object.value.class} has ${classPermissions[object.value.class].join(", ")}`,
  });
}
