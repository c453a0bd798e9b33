// What a built-in tool is as data, and the parts that several of their schemas share.

export interface BuiltinTool {
  readonly name: string;
  /** True when this version really runs it; only then does bootstrap make the object. */
  readonly served: boolean;
  /** It is this program of the host's; bootstrap makes the object where the host has it. */
  readonly program?: string;
  readonly description: string;
  /** Descriptive words, no authority: read write exec network. */
  readonly cap: readonly string[];
  readonly schema: Readonly<Record<string, unknown>>;
  /** Policy types that the tool's own policy lets execute it. */
  readonly subjects: readonly string[];
}

export const everyone = ["architect_t", "coder_t", "reviewer_t"];
export const writers = ["coder_t"];

/** Bytes of one built-in read or listing; what the model is shown of it is cut further. */
export const builtinOutputBytesMax = 8 * 1024 * 1024;

/** Entries of one listing. Past it the listing ends and says so. */
export const listEntriesMax = 10_000;

/** Longest time one command may run, in milliseconds. */
export const commandTimeoutMsMax = 600_000;

export const path = (what: string) => ({
  type: "string",
  minLength: 1,
  maxLength: 4096,
  description: `${what}, absolute or relative to the current folder of the agent. A symlink that leads out of the view is refused.`,
});

export const bytes = (description: string, minimum: number) => ({
  type: "integer",
  minimum,
  maximum: 2 ** 53 - 1,
  description,
});

export function schema(properties: Record<string, unknown>, required: readonly string[]) {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties,
    required,
    additionalProperties: false,
  };
}
