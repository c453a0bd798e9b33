// What `ctxmcp list` makes of hostile lists and streams, and of servers that live and end badly.

import type { Row } from "./ctxmcp-hostile-row.ts";

const cannot = (reason: string) => new RegExp(`tools of MCP server "h" cannot be read: ${reason}`);
const both = /echo[\s\S]*add/;

/** Named bounds of ctxmcp, in seconds. */
const start = 2;
const page = 2;
const closing = 4;
const quick = ["--timeout", "2"];

export const listRows: readonly Row[] = [
  { script: "plain", out: both },
  {
    script: "pages",
    args: ["3"],
    out: /p0_a[\s\S]*p0_b[\s\S]*p1_a[\s\S]*p1_b[\s\S]*p2_a[\s\S]*p2_b/,
  },
  { script: "pages-with-a-null-cursor", long: true, out: both },
  { script: "pages-with-an-empty-cursor", code: "EINVAL", says: cannot('cursor "" comes again') },
  {
    script: "pages-with-a-number-as-cursor",
    long: true,
    code: "EINVAL",
    says: cannot("a cursor is no text"),
  },
  { script: "pages-without-tools", long: true, code: "EINVAL", says: cannot('"tools" is no list') },
  { script: "endless-cursor", code: "EINVAL", says: cannot("there are more than 1000 pages") },
  {
    script: "endless-cursor-of-empty-pages",
    long: true,
    code: "EINVAL",
    says: cannot("there are more than 1000 pages"),
  },
  {
    script: "endless-cursor-of-long-cursors",
    long: true,
    code: "EMSGSIZE",
    says: /the tools of MCP server "h" take more than 67108864 bytes/,
    seconds: 10,
    MiB: 256,
  },
  { script: "repeated-cursor", code: "EINVAL", says: cannot('cursor "1" comes again') },
  { script: "same-cursor", long: true, code: "EINVAL", says: cannot('cursor "1" comes again') },
  { script: "many-tools", out: /t0\b[\s\S]*t1\b/ },
  {
    script: "many-tools",
    args: ["10001"],
    code: "EINVAL",
    says: cannot("there are more than 10000"),
  },
  { script: "list-changed-before-the-answer", long: true, out: both },
  { script: "list-changed-for-ever", out: both },
  { script: "same-name-twice", out: /echo/ },
  { script: "same-name-on-two-pages", long: true, out: /echo/ },
  { script: "illegal-names", out: /first[\s\S]*last/ },
  { script: "names-of-other-types", long: true, out: /last/ },
  { script: "names-of-the-prototype", out: /constructor[\s\S]*__proto__[\s\S]*keys/ },
  { script: "tools-that-are-none", out: /first[\s\S]*last/ },
  { script: "descriptions", out: /escapes/, MiB: 128 },
  { script: "descriptions-of-other-types", long: true, out: /number/ },
  { script: "schema", args: ["large"], out: /echo/, MiB: 160 },
  { script: "schema", args: ["ref-loop"], long: true, out: /echo/ },
  { script: "schema-of-another-type", args: ["null"], out: /first[\s\S]*odd/ },
  { script: "schema-of-another-type", args: ["missing"], long: true, out: /first[\s\S]*odd/ },
  {
    script: "schema-deep",
    code: "EIO",
    says: /its reply nests deeper than 256 levels/,
    MiB: 128,
  },

  { script: "noise", out: both },
  { script: "half-lines", out: /echo/ },
  { script: "carriage-returns", long: true, out: both },
  { script: "two-in-one-write", long: true, out: both },
  { script: "no-newline", code: "EMSGSIZE", says: /a line longer than 16777216 bytes/, MiB: 160 },
  {
    script: "no-newline",
    args: ["100", "initialize"],
    code: "EMSGSIZE",
    says: /a line longer than 16777216 bytes/,
    MiB: 160,
  },
  { script: "stderr-flood", out: both, MiB: 128 },
  { script: "stderr-for-ever", out: both, MiB: 128 },
  { script: "stderr-escapes", code: "EHOSTDOWN", says: /cannot open the database/ },
  { script: "notifications-flood", out: both, MiB: 128 },
  { script: "notifications-unknown", long: true, out: both },
  { script: "requests-for-ever", code: "slow_consumer", says: /unread/, MiB: 128, seconds: page },
  { script: "notifications-for-ever", options: quick, code: "ETIMEDOUT", seconds: page, MiB: 128 },
  { script: "noise-for-ever", options: quick, code: "ETIMEDOUT", seconds: page, MiB: 128 },
  { script: "two-on-one-line", options: quick, code: "ETIMEDOUT", seconds: page },
  { script: "ping", out: both },
  { script: "ask-in-list", args: ["sampling"], out: both },
  { script: "ask-in-list", args: ["roots"], long: true, out: both },
  { script: "duplicate-replies", out: both },
  { script: "unsolicited-replies", out: both },
  { script: "reply-before-the-question", long: true, out: both },
  { script: "ids-of-another-type", args: ["text", "list"], out: both },
  {
    script: "ids-of-another-type",
    args: ["null", "list"],
    options: quick,
    code: "ETIMEDOUT",
    seconds: page,
  },
  {
    script: "ids-of-another-type",
    args: ["list", "list"],
    long: true,
    options: quick,
    code: "ETIMEDOUT",
    seconds: page,
  },
  { script: "error", args: ["list"], code: "EIO", says: /list is not for you/ },
  { script: "batch", out: both },
];

/** With what was offered, announced and would have been taken. */
const unspoken = (version: string) =>
  new RegExp(`MCP server "h" speaks ${version} .*offers tools.*2025-11-25 was announced`);
const unanswered = /MCP server "h" does not answer "initialize" as it must/;
const ended = /MCP server "h" ended with status 3/;

export const lifeRows: readonly Row[] = [
  ...["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"].map((version) => ({
    ...{ script: "version", args: [version], out: both, long: version > "2024-11-05" },
  })),
  ...["2024-10-07", "2027-01-01", "DRAFT-2026-v1", ""].map((version) => ({
    ...{
      script: "version",
      args: [version],
      code: "EINVAL",
      says: unspoken(`"${version}"`),
      long: version < "2",
    },
  })),
  ...["missing", "number", "null", "list"].map((kind) => ({
    ...{
      script: "version",
      args: [kind],
      code: "EINVAL",
      says: unspoken("no version"),
      long: kind !== "number",
    },
  })),
  { script: "handshake", args: ["no-tools"], long: true, out: both },
  { script: "handshake", args: ["no-capabilities"], long: true, code: "EINVAL", says: unanswered },
  { script: "handshake", args: ["no-info"], code: "EINVAL", says: unanswered },
  { script: "handshake", args: ["not-object"], long: true, code: "EINVAL", says: unanswered },
  { script: "handshake", args: ["empty"], long: true, code: "EINVAL", says: /speaks no version/ },
  { script: "handshake", args: ["long-instructions"], long: true, out: both },
  { script: "error", args: ["initialize"], code: "EINVAL", says: /initialize is not for you/ },

  { script: "silence", args: ["start"], options: quick, code: "ETIMEDOUT", seconds: start },
  { script: "silence", args: ["initialize"], options: quick, code: "ETIMEDOUT", seconds: start },
  { script: "silence", args: ["list"], options: quick, code: "ETIMEDOUT", seconds: page },
  { script: "exit", args: ["start"], code: "EHOSTDOWN", says: ended },
  {
    script: "exit",
    args: ["start", "0"],
    long: true,
    code: "EHOSTDOWN",
    says: /ended with status 0/,
  },
  { script: "exit", args: ["initialize"], code: "EHOSTDOWN", says: ended },
  { script: "exit", args: ["initialized"], long: true, code: "EHOSTDOWN", says: ended },
  { script: "exit", args: ["list"], code: "EHOSTDOWN", says: /the database is locked/ },
  { script: "exit", args: ["end"], long: true, out: both },
  {
    script: "exit-after-half-a-line",
    args: ["list"],
    code: "EHOSTDOWN",
    says: /ended with status 0/,
  },
  {
    script: "killed",
    args: ["initialize"],
    long: true,
    code: "EHOSTDOWN",
    says: /was ended by SIGKILL/,
  },
  { script: "killed", args: ["list"], code: "EHOSTDOWN", says: /was ended by SIGKILL/ },
  {
    script: "stopped",
    args: ["initialize"],
    options: quick,
    code: "ETIMEDOUT",
    seconds: start + closing,
  },
  { script: "stopped", args: ["list"], options: quick, code: "ETIMEDOUT", seconds: page + closing },
  { script: "stopped", args: ["end"], long: true, out: both, seconds: closing },
  {
    script: "closes-stdout",
    args: ["list"],
    code: "EHOSTDOWN",
    says: /closed its output/,
    seconds: closing,
  },
  { script: "survivor", args: ["start"], long: true, out: both, seconds: closing },
  { script: "survivor", args: ["list", "20"], out: both, seconds: closing },
  { script: "survivor", args: ["end"], out: both, seconds: closing },
  { script: "survivor-apart", args: ["list"], out: both, seconds: closing },
  {
    script: "survivor-then-exit",
    args: ["start"],
    code: "EHOSTDOWN",
    says: ended,
    seconds: closing,
  },
  {
    script: "survivor-then-exit",
    args: ["list"],
    code: "EHOSTDOWN",
    says: ended,
    seconds: closing,
  },
  { script: "ignores-eof", out: both, seconds: closing },
  { script: "ignores-sigterm", out: both, seconds: closing },
  { script: "ignores-sigterm-with-child", out: both, seconds: closing },
];
