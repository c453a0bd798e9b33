#!/usr/bin/env bun
// Owner of an agent's terminal: one pseudo-terminal, many clients.

import { runMain } from "../../internal/cli/mod.ts";
import { help } from "./help.ts";

await runMain("ctxterm", () => import("./terminal.ts"), help);
