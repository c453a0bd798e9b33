// The shapes that several requests of the capability socket share.

import * as z from "zod";
import { codes } from "../abi/mod.ts";
import { isJsonObject } from "../frame/mod.ts";
import { capabilityListMax } from "./bounds.ts";

/** Not empty and without NUL; its bytes are counted by a rule. */
export const identifier = z.string().regex(/^[^\0]+$/u);

export const objectName = z
  .string()
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9._+-]{0,63}$/u)
  .regex(/^(?!.*\.(?:sock|d)$)/u);

export const sessionName = objectName.regex(/^(?!index$)/u);

const component = "(?![^/]*\\.(?:sock|d)(?:/|$))[a-zA-Z0-9][a-zA-Z0-9._+-]{0,63}";

/** `provider/model`, or an alias of one component. */
export const modelName = z.string().regex(new RegExp(`^${component}(?:/${component})?$`, "u"));

/** The type part of a label, or a whole label; its finer grammar is a rule of the control. */
export const labelText = z.string().regex(/^[a-zA-Z0-9_.:,+-]{1,256}$/u);

export const viewPath = z.string().regex(/^\/[^\0-\x1f\x7f]*$/u);

export const permText = z.string().regex(/^[r-][w-][x-]$/u);

export const freeObject = z.custom<object>(isJsonObject, "expected object");

/** A word of a command line: the kernel takes any bytes but NUL. */
export const argument = z.string().regex(/^[^\0]*$/u);

export const code = z.enum(Object.keys(codes) as [string, ...string[]]);

export const textPart = z.object({ type: z.literal("text"), text: z.string() });

export const tokens = z.int().min(0);

const layer = z.object({
  layer: z.string().min(1),
  allowed: z.boolean(),
  because: z.string(),
  at: z.string().optional(),
});

export const decision = z.object({
  allowed: z.boolean(),
  path: viewPath.optional(),
  layers: z.array(layer).max(capabilityListMax),
});

/** What came of a call that the host made. */
export const callResult = z.object({
  status: z.enum(["ok", "error"]),
  code: code.optional(),
  content: z.string(),
});

/** zod passes over a member "__proto__" of a record; here it is a name like any other, and none. */
export function withoutProto<T extends z.ZodType<object>>(record: T) {
  return z
    .unknown()
    .superRefine((value, context) => {
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, "__proto__")) return;
      context.addIssue({ code: "custom", path: ["__proto__"], message: "Invalid key in record" });
    })
    .pipe(record);
}
