// Values of a configuration that look like secrets. A configuration lies in the agent's view, so that
// what stands there literally is the agent's to read; a person should at least be told.

import type { ServerEntry } from "./config.ts";

const tellingName =
  /(?:^|[_.-])(?:token|secret|password|passwd|pass|pat|credentials?|auth|api_?key|private_?key|access_?key|key)(?:$|[_.-]|\d)/i;

/** Shapes that issuers give to their keys, and an address with a password in it. */
const tellingValue = [
  /\b(?:gh[pousr]_|github_pat_|glpat-|npm_|hf_|xox[abeprs]-|sk-|sk_live_|rk_live_|AIza)[\w-]{12,}/,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/,
  /\bBearer\s+\S{8,}/i,
  /:\/\/[^\s/:@]+:[^\s/@]+@/,
] as const;

const reference = /\$\{[^}]*\}/g;

/** Fields, e.g. "env.GITHUB_TOKEN" and "args[2]", whose literal value looks like a secret. */
export function secretLooking(entry: ServerEntry): readonly string[] {
  const found: string[] = [];
  for (const [name, value] of Object.entries(entry.env)) {
    const literal = value.replace(reference, "");
    const named = tellingName.test(name) && literal.length >= 6 && !/^(?:\/|\d+$)/.test(literal);
    if (named || looksTold(literal)) found.push(`env.${name}`);
  }
  for (const [index, value] of entry.args.entries()) {
    const literal = value.replace(reference, "");
    const [, option, given] = /^--?([\w-]+)=(.+)$/.exec(literal) ?? [];
    const before = /^--?([\w-]+)$/.exec(entry.args[index - 1] ?? "")?.[1];
    const said = (given ?? literal).length >= 6 && !/^[-/]/.test(given ?? literal);
    const named = said && tellingName.test(option ?? before ?? "");
    if (named || looksTold(literal)) found.push(`args[${index}]`);
  }
  return found;
}

const looksTold = (value: string): boolean => tellingValue.some((shape) => shape.test(value));
