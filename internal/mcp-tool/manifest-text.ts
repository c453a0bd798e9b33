// The two files of a projected tool: an executable that says which definition it stands for, and the
// manifest that binds it by digest. The same tool gives the same bytes on every machine.

import type { Projected } from "./project.ts";

/** The first line that makes a file an object which the common runner runs. */
const runnerLine = "#!/ctx/bin/ctx exec";

/** Text of the executable; `definitionSha256` is the digest of `Projected.definition` in hex. */
export function objectText(object: string, definitionSha256: string): string {
  const lines = [
    runnerLine,
    "# class: tool",
    `# name: ${object}`,
    `# mcp-definition: sha256:${definitionSha256}`,
  ];
  return `${lines.join("\n")}\n`;
}

export interface ManifestInput {
  readonly tool: Projected;
  /** What the server says its version is; used when it is a SemVer. */
  readonly serverVersion: string;
  /** Of `objectText`, in hex. */
  readonly sha256: string;
}

/** The manifest, `cortexfs.object/v2`, as indented JSON. */
export function manifestText(input: ManifestInput): string {
  const text = indented(input, input.tool.schema);
  // Indentation can make a schema of the largest size more than a manifest may hold.
  if (text.length * 3 <= readableBytesMax) return text;
  return indented(input, `${JSON.stringify(input.tool.schema)}\n`);
}

/** Bytes of a manifest whose schema is written out. Past it the schema is the text of its control. */
const readableBytesMax = 1024 * 1024;

function indented({ tool, serverVersion, sha256 }: ManifestInput, schema: unknown): string {
  const manifest = {
    schema: "cortexfs.object/v2",
    class: "tool",
    name: tool.object,
    version: semVer.test(serverVersion) ? serverVersion : "0.0.0",
    compatibility: { cortexfs: ">=0.1.0 <1.0.0" },
    executable: { path: tool.object, sha256 },
    controls: {
      description: tool.description,
      schema,
      cap: tool.cap,
      policy: "",
      mcp: tool.mcp,
    },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

export const manifestName = (object: string): string => `${object}.manifest.json`;

// The grammar of semver.org 2.0.0.
const semVer =
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$/;
