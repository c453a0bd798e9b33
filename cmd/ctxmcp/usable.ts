// Which of a server's projected tools could ever be called: a schema by which no input can be judged makes
// an object that is refused where it would be installed, so it is said where it is projected.

import { SchemaFault, schemaProblem } from "../../internal/json-schema/mod.ts";
import type { Projected, Skipped } from "../../internal/mcp-tool/mod.ts";

interface Projection {
  readonly projected: readonly Projected[];
  readonly skipped: readonly Skipped[];
}

export async function usable({ projected, skipped }: Projection): Promise<Projection> {
  const faults = new Map<Projected, string>();
  for (const tool of projected) {
    try {
      await schemaProblem(tool.schema, {}, "an input");
    } catch (error) {
      if (!(error instanceof SchemaFault)) throw error;
      faults.set(tool, error.message);
    }
  }
  const left = [...faults].map(([{ tool }, why]) => {
    return { tool, reason: `its schema is no JSON Schema: ${why}` };
  });
  return {
    projected: projected.filter((tool) => !faults.has(tool)),
    skipped: [...skipped, ...left],
  };
}
