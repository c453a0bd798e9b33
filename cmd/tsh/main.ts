#!/usr/bin/env bun
// The tool shell. Finds tools through CTX_PATH and never looks at the host's PATH.

import { runMain } from "../../internal/cli/mod.ts";
import { help } from "./help.ts";

await runMain("tsh", () => import("./shell.ts"), help);
