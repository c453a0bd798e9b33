// The JSON Schemas that a tool's manifest carries: whether anything can be judged by them at all. It is
// asked when a manifest is checked, since an installed tool that no call fits is found out too late.

import type { JsonObject } from "../control/mod.ts";
import { SchemaFault, schemaProblem } from "../json-schema/mod.ts";
import type { Manifest } from "../manifest/mod.ts";
import { refuseField } from "./artifact.ts";

/** Throws EINVAL at the control that is no schema of its draft. */
export async function checkSchemas(manifest: Manifest): Promise<void> {
  if (manifest.class !== "tool") return;
  for (const control of ["schema", "program"]) {
    const text = manifest.controls.get(control);
    if (text === undefined) continue;
    try {
      await schemaProblem(JSON.parse(text) as JsonObject, {}, "an input");
    } catch (error) {
      if (!(error instanceof SchemaFault)) throw error;
      refuseField(manifest, `controls.${control}`, `it is no JSON Schema: ${error.message}`);
    }
  }
}
