// A launcher that runs nothing: it remembers what it was asked, and plays tools and programs.

import type {
  Launcher,
  LaunchIo,
  LaunchOutcome,
  LaunchRequest,
  PreparedCall,
  SessionOfAgent,
  StandbyRequest,
  StepIo,
  StepOutcome,
  StepRequest,
} from "../launch/mod.ts";

export class FakeLauncher implements Launcher {
  readonly requests: LaunchRequest[] = [];
  readonly steps: StepRequest[] = [];
  readonly standbys: string[] = [];
  answer: (request: LaunchRequest, io: LaunchIo) => Promise<Partial<LaunchOutcome>> | undefined =
    () => undefined;

  examine({ tool, args }: LaunchRequest): PreparedCall {
    const same = ["executable", "folders", "identity", "network", "environment", "limit"] as const;
    const parts = Object.fromEntries(same.map((part) => [part, ""]));
    const call = { tool: tool.name, arguments: JSON.stringify(args), cwd: "/workspace" };
    return { cwd: call.cwd, parts: { ...parts, ...call } as PreparedCall["parts"] };
  }

  async run(request: LaunchRequest, io: LaunchIo): Promise<LaunchOutcome> {
    this.requests.push(request);
    const usual = { status: "ok", output: "launched", dropped: 0, exit: 0, newGit: [] } as const;
    return { ...usual, ...(await this.answer(request, io)) };
  }

  /** What the program prints and how it ends. Without one a step says that it is done. */
  program: (request: StepRequest, io: StepIo) => Promise<Partial<StepOutcome>> = sayDone;

  async step(request: StepRequest, io: StepIo): Promise<StepOutcome> {
    this.steps.push(request);
    const usual = { exit: 0, stopped: undefined, stderr: "" };
    return { ...usual, ...(await this.program(request, io)) };
  }

  prepare({ session }: StandbyRequest, options?: { readonly resting: boolean }): void {
    this.standbys.push(`prepare ${session}${options?.resting ? " to rest" : ""}`);
  }

  rest({ session }: SessionOfAgent): boolean {
    this.standbys.push(`rest ${session}`);
    return false;
  }

  async discard({ session }: SessionOfAgent): Promise<void> {
    this.standbys.push(`discard ${session}`);
  }

  async leave({ session }: SessionOfAgent): Promise<void> {
    this.standbys.push(`leave ${session}`);
  }

  reset(): void {
    this.requests.length = 0;
    this.steps.length = 0;
    this.program = sayDone;
    this.standbys.length = 0;
    this.answer = () => undefined;
  }

  check() {}

  readonly live = () => [];
  readonly wake = () => false;

  async close() {}
}

/** A program that prints these frames, each on a line, and ends well. */
export function printing(...frames: readonly object[]): FakeLauncher["program"] {
  return async (_request, io) => {
    const text = frames.map((frame) => `${JSON.stringify(frame)}\n`).join("");
    const stopped = (await io.onStdout(new TextEncoder().encode(text))) === "stop";
    return stopped ? { stopped: "reader", exit: undefined } : {};
  };
}

export function saying(text: string): object {
  return { type: "message", role: "assistant", content: [{ type: "text", text }] };
}

const sayDone = printing(saying("done"));
