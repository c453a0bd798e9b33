// The start of every command that is not in the flat part.

import { runMain } from "../../internal/cli/mod.ts";
import { help } from "./help.ts";

export const commands = () => import("./dispatch.ts");

export const models = () => import("./exec-model.ts");

export function start(): Promise<never> {
  return runMain("ctx", commands, help);
}
