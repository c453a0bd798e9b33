// The second validator of the tests: the schema of a protocol in Ajv, and nothing of our code but
// the bound. It says what a line is without knowing our rules, so that a judge can be held to it.

import Ajv2020, { type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Judgement } from "../abi/mod.ts";
import { schemaOf } from "./goldens.ts";
import type { Protocol } from "./registry.ts";

/** `line`: no JSON value within the bound; `schema`: refused by the schema; `accept`: fits it. */
export type OracleVerdict = "line" | "schema" | "accept";

const compiled = new Map<string, ValidateFunction>();

/** The schema is compiled in Ajv's strict mode, so an unknown or misplaced keyword is an error. */
export function validatorOf(protocol: string): ValidateFunction {
  let validate = compiled.get(protocol);
  if (validate === undefined) {
    const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
    addFormats(ajv);
    validate = ajv.compile(schemaOf(protocol));
    compiled.set(protocol, validate);
  }
  return validate;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** `bytes` is a line without its LF. */
export function oracle(protocol: Protocol, bytes: Uint8Array): OracleVerdict {
  if (bytes.length + 1 > protocol.lineBytesMax) return "line";
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(bytes));
  } catch {
    return "line";
  }
  return validatorOf(protocol.name)(value) ? "accept" : "schema";
}

/**
 * Whether a judge and the oracle agree. The judge alone knows rules, and may ask more of the framing
 * than JSON does, so by those it may refuse what fits the schema; nothing else may differ.
 */
export function agree(judged: Judgement, verdict: OracleVerdict): boolean {
  if (!judged.ok && judged.by === "line") return true;
  if (verdict === "accept") return judged.ok || judged.by === "rule";
  return !judged.ok && judged.by === verdict;
}
