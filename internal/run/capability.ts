// What the programs of one run may ask of their host: whether a tool may run, an answer of a model,
// and a new text for a prompt control of the agent itself. Who asks was judged by the socket; here it
// is decided what comes of it, by the same authority and the same records as for the run itself.

import { coded, fail } from "../abi/mod.ts";
import type {
  AuthorizeRequest,
  CallRequest,
  Refusal,
  Reply,
  UpdateRequest,
} from "../capability/mod.ts";
import type { AgentControls } from "../control/mod.ts";
import type { RunSocket, RunSocketHandlers } from "../run-socket/mod.ts";
import type { RunContext } from "../session/mod.ts";
import { loadAgent, stagePrompt } from "../tree/mod.ts";
import { allowedTool } from "./allowed-tool.ts";
import { authorizeTool } from "./authorize-tool.ts";
import type { ExecutorOptions } from "./environment.ts";
import { hostedCall } from "./hosted-call.ts";
import { ModelUse } from "./model-use.ts";
import { RunFolder } from "./run-folder.ts";
import { standbyRequest } from "./standby-request.ts";
import type { UsageSum } from "./usage.ts";

/** The capability socket of a run, opened when its first program is about to start. */
export class RunCapability implements RunSocketHandlers {
  readonly #options: ExecutorOptions;
  readonly #context: RunContext;
  readonly #models: ModelUse;
  readonly #folder: RunFolder;
  #socket: RunSocket | undefined;
  #closed = false;
  /** Updates are made in the order in which they are recorded. */
  #replacing: Promise<void> = Promise.resolve();

  constructor(
    options: ExecutorOptions,
    context: RunContext,
    usage: UsageSum,
    folder = new RunFolder(options.sockets, context, true),
  ) {
    this.#options = options;
    this.#folder = folder;
    this.#context = context;
    this.#models = new ModelUse(options, context, usage);
  }

  open(): void {
    const { sockets, tree } = this.#options;
    if (this.#socket !== undefined || this.#closed || sockets === undefined) return;
    const { agent, session, run } = this.#context;
    const { uid: peerUid } = loadAgent(tree, agent);
    const folder = this.#folder.of(peerUid);
    if (folder === undefined) return;
    this.#socket = sockets.open({ agent, session, run, peerUid, folder, handlers: this });
  }

  /** Cuts what is still being answered. May be called more than once. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#socket?.close();
  }

  /**
   * Needs what executing the tool of that name needs, so that no program goes around its policy. The
   * record comes first, so that no text is ever replaced without one.
   */
  async update({ request_id, control, content }: UpdateRequest): Promise<Reply> {
    const { agent, session, run } = this.#context;
    this.#requireRunning();
    allowedTool(this.#options, agent, loadAgent(this.#options.tree, agent), updateTool);
    const replaced = this.#replacing.then(() => this.#replace(control, content));
    this.#replacing = replaced.catch(() => undefined);
    await replaced;
    return { request_id, ok: true, agent, session, run, control };
  }

  /** The disk works on the record and on the new text at once; the text waits for the record. */
  async #replace(control: UpdateRequest["control"], content: string): Promise<void> {
    const { tree } = this.#options;
    const { agent } = this.#context;
    const recording = this.#context.agentUpdate(control, content);
    // In the same turn: the log looks around before it writes, and the text is on its way by then.
    const staging = stagePrompt(tree, agent, control, content);
    const [recorded, staged] = await Promise.allSettled([recording, staging]);
    if (recorded.status === "rejected") {
      if (staged.status === "fulfilled") staged.value.drop();
      throw recorded.reason;
    }
    try {
      if (staged.status === "rejected") throw staged.reason;
      await staged.value.publish();
    } catch (thrown) {
      const { code, message } = coded(thrown);
      await this.#context.note(
        code,
        `agent.update failed: ${message}`,
        `agent/${agent}.d/${control}`,
      );
      throw thrown;
    }
  }

  async authorize(request: AuthorizeRequest): Promise<Reply | Refusal> {
    this.#requireRunning();
    return authorizeTool(this.#options, this.#context, request);
  }

  async call(request: CallRequest, signal: AbortSignal): Promise<Reply> {
    this.#requireRunning();
    const options = { ...this.#options, folder: this.#folder };
    const around = (controls: AgentControls) => standbyRequest(options, this.#context, controls);
    const either = AbortSignal.any([signal, this.#context.signal]);
    return hostedCall(options, this.#context, request, around, either);
  }

  useModel: RunSocketHandlers["useModel"] = (request, emit, signal) => {
    this.#requireRunning();
    return this.#models.answer(request, emit, signal);
  };

  #requireRunning(): void {
    const { signal } = this.#context;
    if (signal.aborted || this.#closed) fail("ECANCELED", "the run is over");
  }
}

const updateTool = "agent.update";
