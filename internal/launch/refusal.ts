// Errors of a launch in the words of its request, and as what its outcome says.

import { CodedError, coded, quoted } from "../abi/mod.ts";
import type { LaunchPlan } from "./plan.ts";

export interface Refusal {
  readonly code: CodedError["code"];
  readonly message: string;
}

/** An error of the launch as a part of its outcome; what is no coded error is a bug and thrown. */
export function refusalOf(error: unknown): Refusal {
  const systemError = typeof (error as { code?: unknown }).code === "string";
  if (!(error instanceof CodedError) && !systemError) throw error;
  const { code, message, hint } = coded(error);
  return { code, message: hint === undefined ? message : `${message} (${hint})` };
}

/** Says in the words of the request what bubblewrap says in its own. */
export function explained(error: unknown, agent: string, plan: LaunchPlan): unknown {
  if (!(error instanceof CodedError)) return error;
  const { cwd, binds } = plan.spec;
  const { uid } = plan.identity;
  if (error.message.includes(`Can't chdir to ${cwd}: `)) {
    if (error.code === "ENOENT") {
      return new CodedError("ENOENT", `folder "${cwd}" does not exist for agent "${agent}"`);
    }
    const host = binds.find(({ view }) => view === cwd)?.host;
    const closed = `folder "${cwd}" is closed to uid ${uid} for agent "${agent}"`;
    const folder = host === undefined ? "it" : quoted(host);
    return new CodedError(error.code, closed, { hint: `let uid ${uid} read and search ${folder}` });
  }
  const path = /Can't find source path (.*): Permission denied/.exec(error.message)?.[1];
  const bind = binds.find(({ host }) => host === path);
  if (bind === undefined) return error;
  return new CodedError("EACCES", `"${path}" (${bind.view}) is not accessible for uid ${uid}`, {
    hint: `give uid ${uid} the right to search the folders above it`,
  });
}
