// Controls that say who an agent is and what it may at most do: perm, label, parent.

import { isObjectName, quoted } from "../abi/mod.ts";
import { accept, type Line, refuse } from "./text.ts";
import type { Parsed, Perm } from "./types.ts";

/** One of the eight triplets from `---` to `rwx`. */
export function permItem(line: Line): Parsed<Perm> {
  const { text } = line;
  for (const [index, letter] of [..."rwx"].entries()) {
    const found = text[index];
    if (found !== letter && found !== "-") {
      const reason = `perm ${quoted(text)} needs "${letter}" or "-" as letter ${index + 1}`;
      return refuse(line.number, index + 1, reason);
    }
  }
  if (text.length > 3)
    return refuse(line.number, 4, `perm ${quoted(text)} has more than 3 letters`);
  return accept({ read: text[0] === "r", write: text[1] === "w", execute: text[2] === "x" });
}

export function formatPerm(perm: Perm): string {
  return `${perm.read ? "r" : "-"}${perm.write ? "w" : "-"}${perm.execute ? "x" : "-"}`;
}

/** Bytes of a policy subject. Past it EINVAL. */
const typeBytesMax = 80;

/** The grammar of a label's type part, which is also a policy line's subject: `coder_t`. */
export function typeFault(type: string): { offset: number; reason: string } | undefined {
  const wrong = /[^a-zA-Z0-9_.+-]/.exec(type);
  if (wrong) {
    const character = quoted(wrong[0]);
    return { offset: wrong.index, reason: `type ${quoted(type)} holds ${character}` };
  }
  if (!/^[a-zA-Z0-9]/.test(type)) {
    return { offset: 0, reason: `type ${quoted(type)} does not start with a letter or digit` };
  }
  if (!/[^_]_t$/.test(type)) {
    return { offset: 0, reason: `type ${quoted(type)} does not end in "_t"` };
  }
  if (type.length > typeBytesMax) {
    return { offset: 0, reason: `type is longer than ${typeBytesMax} bytes` };
  }
  return undefined;
}

/** `user:role:type[:range]` or the type alone; policy looks at the type and nothing else. */
export function labelItem(line: Line): Parsed<{ text: string; type: string }> {
  const parts = line.text.split(":");
  if (parts.length === 1) return typeOf(line, line.text, 0);
  const [user = "", role = "", type = "", ...range] = parts;
  if (parts.length < 3) {
    const reason = `label ${quoted(line.text)} is neither "type_t" nor "user_u:role_r:type_t:s0"`;
    return refuse(line.number, 1, reason);
  }
  if (!/^[a-zA-Z][a-zA-Z0-9_.-]*_u$/.test(user)) {
    return refuse(line.number, 1, `label user ${quoted(user)} does not read like "user_u"`);
  }
  if (!/^[a-zA-Z][a-zA-Z0-9_.-]*_r$/.test(role)) {
    const reason = `label role ${quoted(role)} does not read like "agent_r"`;
    return refuse(line.number, user.length + 2, reason);
  }
  const at = user.length + role.length + 2;
  const level = range.join(":");
  if (range.length > 0 && !/^s[0-9]{1,2}(-s[0-9]{1,2})?(:c[0-9.,c]+)?$/.test(level)) {
    const column = at + type.length + 2;
    return refuse(line.number, column, `label range ${quoted(level)} does not read like "s0"`);
  }
  return typeOf(line, type, at);
}

function typeOf(line: Line, type: string, at: number): Parsed<{ text: string; type: string }> {
  const fault = typeFault(type);
  if (fault) return refuse(line.number, at + fault.offset + 1, `label ${fault.reason}`);
  return accept({ text: line.text, type });
}

const runGrammar = /^[a-zA-Z0-9][a-zA-Z0-9._+-]{0,255}$/;

/** `agent:NAME [session:S] [run:R]`, single spaces between. Gives back the text. */
export function parentItem(line: Line): Parsed<string> {
  const keys = ["agent", "session", "run"];
  let next = 0;
  let column = 1;
  for (const field of line.text.split(" ")) {
    const colon = field.indexOf(":");
    const key = field.slice(0, Math.max(colon, 0));
    const value = field.slice(colon + 1);
    const index = keys.indexOf(key, next);
    if (index < 0 || (next === 0 && index > 0)) {
      const reason = `parent field ${quoted(field)} does not fit agent:NAME [session:S] [run:R]`;
      return refuse(line.number, column, reason);
    }
    const valid = key === "run" ? runGrammar.test(value) : isObjectName(value);
    if (!valid || (key === "session" && value === "index")) {
      const reason = `${key} name ${quoted(value)} is not valid`;
      return refuse(line.number, column + colon + 1, reason);
    }
    next = index + 1;
    column += field.length + 1;
  }
  return accept(line.text);
}
