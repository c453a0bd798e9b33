// What the tests of ctxmcp stand on: a place to run it in, and configurations of scripted servers.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Ended, Place } from "../../testdata/cli/program.ts";

export class Stage {
  readonly place = new Place();
  private made = 0;

  /** Options that name a configuration with this program as its only server "s". */
  server([command, ...args]: readonly string[], entry: object = {}): string[] {
    const config = join(this.place.work, `config-${++this.made}.json`);
    writeFileSync(config, JSON.stringify({ mcpServers: { s: { command, args, ...entry } } }));
    return ["--config", config];
  }

  /** A folder that is not there yet. */
  folder(): string {
    return join(this.place.work, `out-${++this.made}`);
  }

  run(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
    return this.place.run(["ctxmcp", ...argv], { env });
  }
}
