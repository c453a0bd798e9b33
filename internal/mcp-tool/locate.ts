// Where in a JSON text a member is, so that an error about its value can name line and column. The
// text is valid JSON by then; what is not looked for is walked over.

export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

const space = /[ \t\n\r]*/y;
const text = /"(?:[^"\\]|\\.)*"/y;
const scalar = /[^\s,\]}]+/y;

/** Place of the value at `path` in valid JSON, of the deepest part of the path that is there. */
export function locate(json: string, path: readonly (string | number)[]): TextPlace {
  const offset = new Walker(json).find(path);
  const before = json.slice(0, offset);
  const column = offset - (before.lastIndexOf("\n") + 1) + 1;
  return { line: before.split("\n").length, column };
}

class Walker {
  private at = 0;
  private readonly json: string;

  constructor(json: string) {
    this.json = json;
  }

  find(path: readonly (string | number)[]): number {
    this.take(space);
    const [head, ...rest] = path;
    const start = this.at;
    if (head === undefined) return start;
    const open = this.json[this.at];
    if (open !== "{" && open !== "[") return start;
    this.at += 1;
    for (let index = 0; ; index++) {
      this.take(space);
      if (/[\]}]/.test(this.json[this.at] ?? "}")) return start;
      const key = open === "{" ? this.key() : index;
      if (key === head) return this.find(rest);
      this.skip();
      this.take(space);
      if (this.json[this.at] === ",") this.at += 1;
    }
  }

  private key(): string {
    const name = JSON.parse(this.take(text)) as string;
    this.take(space);
    this.at += 1;
    return name;
  }

  /** Walks over one value. Depth is counted instead of recursed into. */
  private skip(): void {
    let depth = 0;
    do {
      this.take(space);
      const first = this.json[this.at];
      if (first === undefined) return;
      if (first === "{" || first === "[") depth += 1;
      else if (first === "}" || first === "]") depth -= 1;
      if (first === '"') this.take(text);
      else if (/[{}[\],:]/.test(first)) this.at += 1;
      else this.take(scalar);
    } while (depth > 0);
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.json)?.[0] ?? "";
    this.at += found.length;
    return found;
  }
}
