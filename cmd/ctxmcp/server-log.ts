// What a server writes to standard error: shown as it comes when the person wants it, else kept, the
// last lines of it, for when something fails.

import { note } from "../../internal/cli/mod.ts";

/** Lines that are kept to be shown with a failure. */
const keptLinesMax = 20;

export class ServerLog {
  private readonly lines: string[] = [];
  private readonly live: boolean;

  constructor(live: boolean) {
    this.live = live;
  }

  add(line: string): void {
    if (this.live) {
      note(`server: ${line}`);
      return;
    }
    this.lines.push(line);
    if (this.lines.length > keptLinesMax) this.lines.shift();
  }

  show(): void {
    for (const line of this.lines) note(`server: ${line}`);
    this.lines.length = 0;
  }
}
