// Is there such an object for this agent at all. For tools that is the search of CTX_PATH, strictly
// from left to right, where only executable regular files count.

import { quoted } from "../abi/mod.ts";
import { allows, refuses } from "./layer.ts";
import type { Facts, LayerVerdict, PathFacts, Question } from "./types.ts";

export function pathLayer(facts: Facts, question: Question): LayerVerdict {
  const { object } = question;
  const name = quoted(object.name);
  if (object.class !== "tool") {
    if (!facts.exists) return refuses("path", `${object.class} ${name} does not exist`);
    return allows("path", `CTX_PATH concerns tools, not ${object.class}`);
  }
  const { tool } = facts;
  const at = `${facts.controls}/path`;
  if (tool === undefined || tool.path === undefined) {
    const search = tool?.search ?? [];
    if (search.length === 0) return refuses("path", "CTX_PATH has no folder", { at });
    const where = search.map(describe).join(", ");
    return refuses("path", `CTX_PATH leads to no executable ${name}: ${where}`, { at });
  }
  if (tool.defect !== undefined) {
    return refuses("path", `tool ${name} is unavailable: ${tool.defect}`);
  }
  return allows("path", `CTX_PATH leads to ${tool.path}`, `${at}:${tool.search.length}`);
}

const findings: Readonly<Record<PathFacts["found"], string>> = {
  executable: "holds it",
  not_executable: "holds a file that is not executable",
  not_regular: "holds something that is no regular file",
  absent: "does not hold it",
  unreachable: "cannot be searched",
};

function describe({ folder, found }: PathFacts): string {
  return `${folder} ${findings[found]}`;
}
