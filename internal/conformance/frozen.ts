// Which files of `abi/` are frozen, and the list that holds them to it. A frozen file never changes:
// a program somewhere was written against its bytes. Drafts are outside until a server passes them.

import { createHash } from "node:crypto";

/** The list, in the format of sha256sum, with paths from `abi/`. */
export const frozenFile = "FROZEN.sha256";

/** Prose may be made clearer, and a draft is a target and no promise. */
export function isFrozen(path: string, text: string): boolean {
  if (path === frozenFile || /(?:^|\/)(?:README|CHANGELOG)\.md$/.test(path)) return false;
  return !(path.endsWith(".jsonl") && isDraft(text));
}

/** Whether the header of a talk, its first line, says that it is a draft. */
function isDraft(text: string): boolean {
  try {
    return (JSON.parse(text.split("\n", 1)[0] ?? "") as { draft?: unknown } | null)?.draft === true;
  } catch {
    return false;
  }
}

export interface Frozen {
  /** What FROZEN.sha256 must hold for these files. */
  readonly text: string;
  /** One sentence for each entry of the old list that would change or go. */
  readonly broken: readonly string[];
  /** Paths that the old list does not have. */
  readonly added: readonly string[];
}

/** Compares the files of `abi/` with a list made before. */
export function freeze(files: ReadonlyMap<string, string>, old: string): Frozen {
  const now = new Map<string, string>();
  for (const path of [...files.keys()].sort()) {
    const text = files.get(path) as string;
    if (isFrozen(path, text)) now.set(path, createHash("sha256").update(text).digest("hex"));
  }
  const before = parseList(old);
  const broken = [...before].flatMap(([path, digest]) => {
    const found = now.get(path);
    if (found === digest) return [];
    if (found !== undefined) return [`"${path}" is frozen and was changed`];
    return [`"${path}" is frozen and ${files.has(path) ? "was made a draft" : "is gone"}`];
  });
  const added = [...now.keys()].filter((path) => !before.has(path));
  const text = [...now].map(([path, digest]) => `${digest}  ${path}\n`).join("");
  return { text, broken, added };
}

function parseList(text: string): Map<string, string> {
  const lines = text.matchAll(/^([0-9a-f]{64}) {2}(.+)$/gm);
  return new Map([...lines].map(([, digest = "", path = ""]) => [path, digest]));
}
