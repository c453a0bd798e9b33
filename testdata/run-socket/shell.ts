// The shell of a terminal as a test plays it: connects like any program of the sandbox, offers to serve,
// and says what it is told to say.

import { join } from "node:path";
import {
  decodeHostLine,
  encodeTerminalCall,
  type HostLine,
  type ShellLine,
} from "../../internal/capability/mod.ts";
import { controlSocketName } from "../../internal/run-socket/mod.ts";
import { type Connection, connectLines } from "../../internal/sock/mod.ts";
import { type Answer, answerOf } from "./stage.ts";

let serial = 0;

export class PlayedShell {
  readonly connection: Connection;

  private constructor(connection: Connection) {
    this.connection = connection;
  }

  static async connect(folder: string): Promise<PlayedShell> {
    const path = join(folder, controlSocketName);
    const lineBytesMax = 1024 * 1024;
    return new PlayedShell(await connectLines({ path, servers: "any", lineBytesMax }));
  }

  /** Offers to serve; gives the answer. */
  async offer(): Promise<Answer> {
    serial += 1;
    void this.connection.send(
      encodeTerminalCall({ op: "terminal.serve", request_id: `serve-${serial}` }),
    );
    return answerOf(this.connection);
  }

  say(...lines: readonly ShellLine[]): void {
    for (const line of lines) void this.connection.send(encodeTerminalCall(line));
  }

  print(id: string, text: string, stream: "stdout" | "stderr" = "stdout"): void {
    this.say({ type: "output", id, stream, data: Buffer.from(text).toString("base64") });
  }

  /** The host's next line. */
  async next(): Promise<HostLine> {
    const line = await this.connection.next();
    if (line === undefined || !line.ok) throw new Error("the host said nothing");
    const decoded = decodeHostLine(line.line);
    if (!decoded.ok) throw new Error(`${decoded.message}: ${line.line}`);
    return decoded.frame;
  }

  async call(): Promise<Extract<HostLine, { type: "call" }>> {
    const line = await this.next();
    if (line.type !== "call") throw new Error(`the host said ${line.type}`);
    return line;
  }

  end(): void {
    this.connection.destroy();
  }
}
