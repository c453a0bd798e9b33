// Draft-04 in the words of draft-07, which are the same but for two: a schema's own address, and the
// bounds that are excluded, which were a yes or no beside the bound and are bounds themselves since.

type Members = Record<string, unknown>;

const bounds = [
  ["minimum", "exclusiveMinimum"],
  ["maximum", "exclusiveMaximum"],
] as const;

/** Changes the schemas, which are all that a document has. */
export function fromDraft04(schemas: readonly Members[]): void {
  for (const schema of schemas) {
    if (typeof schema["id"] === "string") {
      schema["$id"] = schema["id"];
      delete schema["id"];
    }
    for (const [bound, excluded] of bounds) {
      const isExcluded = schema[excluded];
      if (typeof isExcluded !== "boolean") continue;
      delete schema[excluded];
      if (!isExcluded || schema[bound] === undefined) continue;
      schema[excluded] = schema[bound];
      delete schema[bound];
    }
  }
}
