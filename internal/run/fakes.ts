// For tests of this folder: a real bootstrapped tree in a temporary folder, and a run context that
// keeps its records in memory.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Code, fail, observationBytesMax } from "../abi/mod.ts";
import { type ModelRequest, resolveModel } from "../model/mod.ts";
import type {
  ApprovalDecision,
  ApprovalQuestion,
  HistoryItem,
  RunContext,
  RunOutcome,
  ToolOutcome,
} from "../session/mod.ts";
import { bootstrap, openTree, type Places, resolvePlaces, type Tree } from "../tree/mod.ts";
import type { ExecutorOptions, ResolveModel } from "./environment.ts";
import { createExecutor } from "./executor.ts";
import { FakeLauncher } from "./fake-launcher.ts";

/** Any uid but root's, which no agent runs as. */
const agentUid = process.getuid?.() || 61_000;

export class TestWorld {
  readonly base = mkdtempSync(join(tmpdir(), "ctx-run-"));
  readonly source = join(this.base, "tree");
  readonly launcher = new FakeLauncher();
  readonly #before = new Map<string, string | undefined>();
  readonly places: Places;
  readonly tree: Tree;
  readonly options: ExecutorOptions;

  constructor() {
    const binaries = join(this.base, "bin");
    mkdirSync(binaries);
    for (const name of ["ctx", "ctxd", "tsh", "ctxterm", "ctxmcp"]) {
      writeFileSync(join(binaries, name), "#!/bin/sh\n", { mode: 0o755 });
    }
    mkdirSync(this.source);
    const owner = { uid: agentUid, gid: agentUid };
    bootstrap({ source: this.source, owner, groups: [], binaries });
    this.tree = openTree(this.source);
    const uid = process.getuid?.() ?? 0;
    const found = resolvePlaces({ source: this.source, env: { HOME: this.base }, uid });
    const config = join(this.base, "config");
    const secrets = join(this.base, "secrets");
    mkdirSync(join(config, "providers.d"), { recursive: true, mode: 0o755 });
    mkdirSync(secrets, { mode: 0o700 });
    this.places = { ...found, config, secrets };
    const server = { uid, groups: [], rootAgents: false };
    this.options = {
      tree: this.tree,
      places: this.places,
      launcher: this.launcher,
      server,
      modelSteps: 8,
      toolTimeoutMs: 60_000,
      stepTimeoutMs: 60_000,
    };
  }

  /** Writes a control as a person with an editor would; `reset` takes it back. */
  write(relative: string, text: string): void {
    const path = join(this.source, relative);
    if (!this.#before.has(path)) {
      this.#before.set(path, existsSync(path) ? readFileSync(path, "utf8") : undefined);
    }
    writeFileSync(path, text);
  }

  /** The tree as bootstrap made it and a launcher that was never asked. */
  reset(): void {
    for (const [path, text] of this.#before) {
      if (text === undefined) rmSync(path, { force: true });
      else writeFileSync(path, text);
    }
    this.#before.clear();
    this.launcher.reset();
  }

  /** Makes a model object with its controls. */
  model(name: string, driver: string, fallback = ""): void {
    const folder = join(this.source, "model", `${name}.d`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(this.source, "model", name), `#!${this.source}/bin/ctx exec\n`);
    chmodSync(join(this.source, "model", name), 0o755);
    const controls = { id: name.split("/")[1], driver, cap: "chat", limit: "unknown", fallback };
    for (const [control, text] of Object.entries(controls)) {
      if (text !== "") writeFileSync(join(folder, control), `${text}\n`);
    }
  }

  /** Lets the coder use exactly these models, in this order. */
  readonly aim = (...models: string[]): void => {
    this.write("agent/coder.d/model", models.map((name) => `${name}\n`).join(""));
  };

  /** One run of an agent, its records and its outcome. */
  readonly send = async (
    input: string,
    agent = "coder",
    change: Partial<ExecutorOptions> = {},
  ): Promise<{ context: MemoryContext; outcome: RunOutcome }> => {
    const context = new MemoryContext(input, agent);
    const outcome = await createExecutor({ ...this.options, ...change })(context);
    return { context, outcome };
  };

  close(): void {
    this.tree.close();
    rmSync(this.base, { recursive: true, force: true });
  }
}

export type RunRecord =
  | {
      readonly type: "call";
      readonly id: string;
      readonly name: string;
      readonly args: unknown;
      readonly own?: string;
    }
  | {
      readonly type: "result";
      readonly id: string;
      readonly name: string;
      readonly outcome: ToolOutcome;
    }
  | { readonly type: "message"; readonly text: string }
  | {
      readonly type: "usage";
      readonly model: string | undefined;
      readonly input: number;
      readonly output: number;
    }
  | { readonly type: "update"; readonly control: string; readonly content: string }
  | { readonly type: "note"; readonly code: Code; readonly text: string; readonly object: string };

export class MemoryContext implements RunContext {
  readonly run = "ctx-00000000000000000000000000000001";
  readonly agent: string;
  readonly session: string;
  readonly scope = { kind: "private" } as const;
  readonly input: string;
  words: readonly string[] | undefined;
  readonly cwd = undefined;
  readonly workspace = "/tmp/workspace";
  readonly sessionFolder = "/tree/home/1000/agent/coder/session/default";
  readonly controller = new AbortController();
  readonly records: RunRecord[] = [];
  readonly live: string[] = [];
  readonly phases: string[] = [];
  past: HistoryItem[] = [];
  /** What an earlier run kept; a test may share it between contexts. */
  kept = new Map<string, string>();
  /** What was asked, and who answers it. */
  readonly questions: ApprovalQuestion[] = [];
  decide: (question: ApprovalQuestion) => ApprovalDecision | Promise<ApprovalDecision> = () => ({
    kind: "origin_lost",
  });

  constructor(input: string, agent = "coder", session = "default") {
    this.input = input;
    this.agent = agent;
    this.session = session;
  }

  get signal() {
    return this.controller.signal;
  }

  history() {
    return this.past;
  }

  readKept(name: string) {
    return this.kept.get(name);
  }

  keep(name: string, text: string) {
    this.kept.set(name, text);
  }

  async toolCall(name: string, args: unknown, own?: string) {
    const id = `call-${this.records.length + 1}`;
    this.#append({ type: "call", id, name, args, ...(own === undefined ? {} : { own }) });
    return id;
  }

  async toolResult(call: string, name: string, outcome: ToolOutcome) {
    this.#append({ type: "result", id: call, name, outcome });
    const truncated = outcome.output.length > observationBytesMax;
    return { content: outcome.output.slice(0, observationBytesMax), truncated };
  }

  async approval(_call: string, question: ApprovalQuestion) {
    this.questions.push(question);
    return this.decide(question);
  }

  async message(text: string) {
    this.#append({ type: "message", text });
  }

  async agentUpdate(control: string, content: string) {
    this.#append({ type: "update", control, content });
  }

  async usage(model: string | undefined, input: number, output: number) {
    this.#append({ type: "usage", model, input, output });
  }

  async note(code: Code, text: string, object: string) {
    this.#append({ type: "note", code, text, object });
  }

  delta(text: string) {
    this.live.push(text);
  }

  reasoning(text: string) {
    this.live.push(`(${text})`);
  }

  toolDelta(call: string, text: string) {
    this.live.push(`${call}:${text}`);
  }

  phase(phase: string, step: number, model: string | null) {
    this.phases.push(`${phase} ${step} ${model}`);
  }

  /** As the session does: nothing of a cancelled run is recorded. */
  #append(record: RunRecord): void {
    if (this.signal.aborted) fail("ECANCELED", "the run was cancelled");
    this.records.push(record);
  }

  outcomes(): ToolOutcome[] {
    return this.records.flatMap((record) => (record.type === "result" ? [record.outcome] : []));
  }

  messages(): string[] {
    return this.records.flatMap((record) => (record.type === "message" ? [record.text] : []));
  }
}

/** A resolver whose clients put every request they get into `requests`. */
export function watching(requests: ModelRequest[]): ResolveModel {
  return (input) => {
    const client = resolveModel(input);
    return {
      ...client,
      stream(request) {
        requests.push({ ...request, messages: [...request.messages] });
        return client.stream(request);
      },
    };
  };
}
