// Follows one request to its end: prints its frames, cancels its run on Ctrl-C, and answers with the
// exit status. Used by send, resume and chat alike.

import { type Code, CodedError, codes, fail, isCode } from "../../internal/abi/mod.ts";
import {
  escapeJson,
  isTerminal,
  note,
  notePart,
  onInterrupt,
  printJson,
  printRaw,
  reportError,
  wantsColour,
  writeBytes,
} from "../../internal/cli/mod.ts";
import type { OpRequest } from "../../internal/interaction/mod.ts";
import { ask, askOnce } from "./agent-link.ts";
import { ApprovalDesk, type Decide, denyAll } from "./approval-desk.ts";
import type { AgentContext } from "./context.ts";
import { type Rendered, Renderer, type RunSummary } from "./render.ts";

export interface FollowOptions {
  /** `text` streams; `raw` prints frames; `json` prints one summary; `quiet` prints at the end. */
  readonly form: "text" | "raw" | "json" | "quiet";
  readonly showUser?: boolean;
  /** Asked about each call that waits for approval; without it every such call is denied. */
  readonly decide?: Decide;
}

/** Follows the request; throws only when it could not be made or its connection broke. */
export async function follow(
  context: AgentContext,
  request: Extract<OpRequest, { op: "send" | "resume" }>,
  options: FollowOptions,
): Promise<RunSummary> {
  const colour = wantsColour(2, process.env);
  const renderer = new Renderer({ colour, showUser: options.showUser ?? false });
  const { summary } = renderer;
  const leave = new AbortController();
  const desk = new ApprovalDesk(options.decide ?? denyAll);
  const release = onInterrupt(cancelOnce(context, summary, leave));
  try {
    const { signal } = leave;
    const onApproval = desk.open.bind(desk);
    for await (const frame of ask(context, request, { signal, onApproval })) {
      desk.see(frame);
      const rendered = renderer.feed(frame);
      if (options.form === "raw") {
        const line = JSON.stringify(frame);
        printRaw(`${isTerminal(1) ? escapeJson(line) : line}\n`);
        continue;
      }
      if (options.form === "json") continue;
      show(rendered, options.form === "text");
    }
  } finally {
    desk.close();
    release();
  }
  return summary;
}

function show({ out, err, last }: Rendered, streaming: boolean): void {
  const toOut = () => (streaming && out !== "" ? printRaw(out) : undefined);
  if (last === "err") toOut();
  if (err !== "") writeBytes(2, new TextEncoder().encode(err));
  if (last === "out") toOut();
}

/** First Ctrl-C asks the server to cancel the run and waits for its end; the second one leaves. */
function cancelOnce(context: AgentContext, summary: RunSummary, leave: AbortController) {
  let asked = false;
  return () => {
    if (asked || summary.run === undefined) {
      summary.status ??= "cancelled";
      leave.abort();
      return;
    }
    asked = true;
    notePart("\n");
    note("cancelling; Ctrl-C again leaves without waiting");
    askOnce(context, { op: "cancel", id: summary.run }).catch((error: unknown) => {
      writeBytes(2, new TextEncoder().encode(reportError("ctx", error, false).text));
    });
  };
}

/** Says what went wrong, if anything, and gives the exit status of the request. */
export function conclude(context: AgentContext, summary: RunSummary, session: string): number {
  const { status } = summary;
  const subject = `agent "${context.agent}"`;
  if (status === "ok") return 0;
  if (status === "cancelled") {
    note("cancelled");
    return codes.ECANCELED.exit;
  }
  const code: Code = summary.code !== undefined && isCode(summary.code) ? summary.code : "EIO";
  if (status === undefined) {
    if (summary.code !== undefined) fail(code, summary.message ?? `${subject} refused the request`);
    fail("EHOSTDOWN", `the connection to ${subject} ended before its answer did`, {
      hint: `see how it went on with ctx agent resume ${context.agent} --session ${session}`,
    });
  }
  const why = summary.message ?? (status === "interrupted" ? "its host was stopped" : "it failed");
  const shown = new CodedError(
    status === "interrupted" ? "interrupted" : code,
    `run of ${subject} ended: ${why}`,
  );
  // A request that was refused before it became a run fails as the code says; a run that failed is 1.
  const { text, exit } = reportError("ctx", shown, false);
  writeBytes(2, new TextEncoder().encode(text));
  return summary.run === undefined ? exit : 1;
}

export function printSummary(summary: RunSummary, session: string): void {
  const { run, status, code, message, text, toolCalls, inputTokens, outputTokens } = summary;
  printJson({
    session,
    run: run ?? null,
    status: status ?? "error",
    ...(code === undefined ? {} : { code }),
    ...(message === undefined ? {} : { message }),
    text,
    tool_calls: toolCalls,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
  });
}
