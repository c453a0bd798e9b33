// The manual as files of `shared/cortexfs-docs`. The text is that of `docs/man`, built into the
// programs, so that a program and the manual it writes are always of one version.

import agent from "../../docs/man/ctx.agent.md" with { type: "text" };
import coreutils from "../../docs/man/ctx.coreutils.md" with { type: "text" };
import mcp from "../../docs/man/ctx.mcp.md" with { type: "text" };
import model from "../../docs/man/ctx.model.md" with { type: "text" };
import provider from "../../docs/man/ctx.provider.md" with { type: "text" };
import rootAbi from "../../docs/man/ctx.root-abi.md" with { type: "text" };
import session from "../../docs/man/ctx.session.md" with { type: "text" };
import terminal from "../../docs/man/ctx.terminal.md" with { type: "text" };
import tool from "../../docs/man/ctx.tool.md" with { type: "text" };
import readme from "../../docs/man/README.md" with { type: "text" };

export interface ManualFile {
  /** Path below `shared/cortexfs-docs`. */
  readonly name: string;
  readonly text: string;
}

/** Text of the manual by topic: `agent`, `tool`, `model`, … */
export const manualTopics: ReadonlyMap<string, string> = new Map([
  ["agent", agent],
  ["tool", tool],
  ["mcp", mcp],
  ["model", model],
  ["coreutils", coreutils],
  ["root-abi", rootAbi],
  ["session", session],
  ["terminal", terminal],
  ["provider", provider],
]);

export const manualFiles: readonly ManualFile[] = [
  { name: "README.md", text: readme },
  ...[...manualTopics].map(([topic, text]) => ({ name: `man/ctx.${topic}.md`, text })),
];
