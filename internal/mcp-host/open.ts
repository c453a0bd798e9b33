// Opens a server: its sandbox, its entry in the configuration, its secrets, until it is ready.

import { type Code, CodedError, fail, quoted } from "../abi/mod.ts";
import type { McpLocator } from "../control/mod.ts";
import type { LaunchRequest, RunningService, ServiceRequest } from "../launch/mod.ts";
import {
  decodeServeFrame,
  encodeServe,
  type HostFrame,
  type ServeFrame,
  serveLineBytesMax,
} from "../mcp-wire/mod.ts";
import { serverStartMsMax } from "./bounds.ts";
import { OpenServer } from "./calls.ts";
import type { ToolServersOptions } from "./types.ts";
import { valuesFor } from "./values.ts";

export { OpenServer } from "./calls.ts";

const program = ["/ctx/bin/ctxmcp", "serve-tool"];

/** Rejects with what kept it from being ready; nothing of it is left then. */
export async function openServer(
  { launcher, secrets }: ToolServersOptions,
  locator: McpLocator,
  launch: LaunchRequest,
  signal: AbortSignal,
): Promise<OpenServer> {
  const { control: _, args: _a, timeoutMs: _t, approved: _p, ...rest } = launch;
  const request: ServiceRequest = { ...rest, program, lineBytesMax: serveLineBytesMax };
  const root = launcher.serviceFolder(request);
  const service = await launcher.startService(request, signal);
  const { config, server } = locator;
  try {
    const opening = new Opening(service, server);
    await within(signal, server, async () => {
      opening.send({ kind: "open", config, server, root, start_ms: serverStartMsMax });
      const said = await opening.next();
      if (said.kind !== "entry") return opening.strange(said);
      const values = valuesFor(secrets, locator, said);
      opening.send({ kind: "start", values });
      const ready = await opening.next();
      if (ready.kind !== "ready") opening.strange(ready);
    });
    return new OpenServer(service, server);
  } catch (error) {
    await service.end(0);
    throw error;
  }
}

class Opening {
  readonly #service: RunningService;
  readonly #server: string;

  constructor(service: RunningService, server: string) {
    this.#service = service;
    this.#server = server;
  }

  send(frame: HostFrame): void {
    void this.#service.connection.send(encodeServe(frame));
  }

  /** The next frame. Throws what it says has failed. */
  async next(): Promise<ServeFrame> {
    const line = await this.#service.connection.next();
    const name = quoted(this.#server);
    if (line === undefined) {
      const stderr = this.#service.stderr().trim();
      const because = stderr === "" ? "" : `: ${stderr.slice(-saidUnitsMax)}`;
      return fail("EIO", `what serves the tools of server ${name} ended${because}`);
    }
    const frame = line.ok ? decodeServeFrame(line.line) : undefined;
    if (frame === undefined) return fail("EIO", `server ${name} cannot be opened: a strange line`);
    if (frame.kind === "failed") throw new CodedError(frame.code, frame.message);
    return frame;
  }

  strange({ kind }: ServeFrame): never {
    return fail("EIO", `server ${quoted(this.#server)} cannot be opened: a strange "${kind}"`);
  }
}

/** UTF-16 units of what serve-tool complained that are repeated. */
const saidUnitsMax = 500;

/** Rejects when it takes too long or is not wanted any more, whatever the work does then. */
async function within(
  signal: AbortSignal,
  server: string,
  work: () => Promise<void>,
): Promise<void> {
  const stop = Promise.withResolvers<never>();
  const refuse = (code: Code, why: string) =>
    stop.reject(new CodedError(code, `server ${quoted(server)} ${why}`));
  const late = `was not ready after ${serverStartMsMax} ms`;
  // serve-tool counts the same time and knows more about what took it.
  const timer = setTimeout(() => refuse("ETIMEDOUT", late), serverStartMsMax + 5000);
  const abort = () => refuse("ECANCELED", "is not wanted any more");
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    await Promise.race([work(), stop.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}
