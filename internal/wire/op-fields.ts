// The shapes of the fields that op requests, op frames and v1 frames are made of. What a shape says
// here, `schema.json` says too; what it cannot say is a rule in op-rules.ts.

import * as z from "zod";
import { codes } from "../abi/mod.ts";

/** A field that may be absent, and in what clients send also null, which means the same. */
export function maybe<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** One to 256 bytes without NUL; the bytes are a rule. */
export const identifier = z
  .string()
  .min(1, "is empty")
  .regex(/^[^\0]*$/, "holds a NUL character");

const nameReason = "is not a name: 1 to 64 of A-Z a-z 0-9 . _ + -, not ending in .sock or .d";

/** A name in the tree; keep equal to `isObjectName`. */
export const objectName = z
  .string()
  .regex(/^(?!.*\.(?:sock|d)$)[a-zA-Z0-9][a-zA-Z0-9._+-]{0,63}$/, nameReason);

export const sessionName = objectName.regex(/^(?!index$)/, "is reserved");

/** Absolute, canonical, without control characters. */
export const viewPath = z
  .string()
  .regex(
    /^(?:\/|(?:\/(?!\.{0,2}(?:\/|$))[^/\0-\x1f\x7f]+)+)$/,
    "is not an absolute canonical path",
  );

/** An exclusive cursor: the id of an earlier frame, or its sequence number. */
export const cursor = z.union([identifier, z.number().int().min(0)], {
  error: "is neither an id nor a sequence number",
});

export const scope = z.enum(["private", "shared", "temp"]);

export const code = z.enum(Object.keys(codes) as [keyof typeof codes]);

export const runStatus = z.enum(["ok", "error", "cancelled", "interrupted"]);

export const count = z.number().int().min(0, "is negative");

export const sequence = z.number().int().min(1, "is not positive");

export const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "is not a SHA-256 in lower-case hex");

export const instant = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/, "is not a time of RFC 3339 in UTC");

/** Any JSON value, but there. */
export const anything = z.unknown().refine((value) => value !== undefined, "is missing");

/** An object of somebody else's making: kept as it is. */
export const opaqueObject = z.custom<Record<string, unknown>>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "is not an object",
);

/** `shared` names the space exactly when the scope is shared. */
export function scoped<T extends z.ZodType<{ scope?: unknown; shared?: unknown }>>(schema: T) {
  return schema.superRefine(({ scope, shared }, context) => {
    if ((scope === "shared") === (shared !== undefined)) return;
    const message = scope === "shared" ? `is missing` : `needs scope "shared"`;
    context.addIssue({ code: "custom", path: ["shared"], message });
  });
}
