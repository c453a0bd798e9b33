// What `ctxmcp call` makes of hostile answers and of results of every kind.

import type { Row } from "./ctxmcp-hostile-row.ts";

export const echo = ["echo", '{"b":1}'];
const given = /^\{"b": 1\}\n$/;
export const failed = (why: string) => new RegExp(`tool "echo" of MCP server "h" failed: ${why}`);

/** Named bounds, in seconds. */
const idle = 2;
const total = 4;
export const closing = 4;
const quick = ["--timeout", "2", "--total", "4"];

const replies: readonly Row[] = [
  { script: "plain", call: echo, out: given },
  { script: "ping", call: echo, out: /ask-1.*ask-2.*ask-3/ },
  ...["sampling", "elicitation", "elicitation-url", "unknown", "tasks", "tools"].map((kind) => ({
    ...{
      script: "ask",
      args: [kind],
      call: echo,
      out: /"code": -32601, "message": "Method not found"/,
      long: kind !== "sampling" && kind !== "elicitation",
    },
  })),
  { script: "ask", args: ["roots"], call: echo, out: /"roots": \[/ },
  { script: "duplicate-replies", long: true, call: echo, out: given },
  { script: "unsolicited-replies", long: true, call: echo, out: given },
  { script: "reply-before-the-question", long: true, call: echo, out: given },
  { script: "ids-of-another-type", args: ["text", "call"], long: true, call: echo, out: given },
  {
    script: "ids-of-another-type",
    args: ["null", "call"],
    call: echo,
    options: quick,
    code: "ETIMEDOUT",
    seconds: idle,
  },
  { script: "error", args: ["call"], call: echo, code: "EIO", says: failed("call is not for you") },
  {
    script: "error-malformed",
    args: ["empty"],
    long: true,
    call: echo,
    code: "EIO",
    says: failed("no reason is given"),
  },
  {
    script: "error-malformed",
    args: ["text"],
    long: true,
    call: echo,
    code: "EIO",
    says: failed("the error in its reply is no object"),
  },
  { script: "error-malformed", args: ["code-text"], call: echo, code: "EIO", says: failed("m") },
  {
    script: "error-malformed",
    args: ["message-number"],
    long: true,
    call: echo,
    code: "EIO",
    says: failed("no reason is given"),
  },
  {
    script: "error-malformed",
    args: ["message-long"],
    long: true,
    call: echo,
    code: "EIO",
    says: failed("m{300}"),
  },
  {
    script: "error-malformed",
    args: ["unknown-tool"],
    call: echo,
    code: "EINVAL",
    says: failed("Unknown tool: echo"),
  },
  { script: "result-and-error", long: true, call: echo, code: "EIO", says: failed("both") },
  { script: "batch", long: true, call: echo, out: given },
  { script: "noise", long: true, call: echo, out: given },
  { script: "stderr-for-ever", long: true, call: echo, out: given, MiB: 128 },
  {
    script: "progress-for-ever",
    call: echo,
    options: quick,
    code: "ETIMEDOUT",
    says: /did not answer within 4000 ms/,
    seconds: total + closing,
  },
  {
    script: "progress-of-another",
    call: echo,
    options: quick,
    code: "ETIMEDOUT",
    says: /neither answered nor progressed within 2000 ms/,
    seconds: idle + closing,
  },
  { script: "progress-flood", long: true, call: echo, out: /^after the flood\n$/, MiB: 128 },
  { script: "deaf", call: echo, options: quick, code: "ETIMEDOUT", seconds: idle + closing },
  {
    script: "silence",
    args: ["call"],
    call: echo,
    options: quick,
    code: "ETIMEDOUT",
    seconds: idle,
  },
  { script: "exit", args: ["call"], call: echo, code: "EHOSTDOWN", says: /ended with status 3/ },
  {
    script: "killed",
    args: ["call"],
    long: true,
    call: echo,
    code: "EHOSTDOWN",
    says: /was ended by SIGKILL/,
  },
  {
    script: "exit-after-half-a-line",
    args: ["call"],
    long: true,
    call: echo,
    code: "EHOSTDOWN",
    says: /ended with status 0/,
  },
  {
    script: "closes-stdout",
    args: ["call"],
    long: true,
    call: echo,
    code: "EHOSTDOWN",
    says: /closed its output/,
    seconds: closing,
  },
  {
    script: "stopped",
    args: ["call"],
    long: true,
    call: echo,
    options: quick,
    code: "ETIMEDOUT",
    seconds: idle + closing,
  },
  { script: "survivor", args: ["call"], call: echo, out: given, seconds: closing },
  {
    script: "survivor-then-exit",
    args: ["call"],
    call: echo,
    code: "EHOSTDOWN",
    says: /ended with status 3/,
    seconds: closing,
  },
  { script: "change-the-tool", args: ["description"], long: true, call: echo, out: given },
];

const inputs: readonly Row[] = [
  ...["draft-07", "draft-06", "draft-2019-09"].map((draft) => ({
    ...{ script: "schema", args: [draft], call: ["echo", '{"n":1}'], long: draft !== "draft-07" },
    ...{ out: /^\{"n": 1\}\n$/ },
  })),
  { script: "schema", args: ["draft-04"], call: ["echo", '{"n":2}'], out: /^\{"n": 2\}\n$/ },
  {
    script: "schema",
    args: ["draft-04"],
    call: ["echo", '{"n":1}'],
    code: "EINVAL",
    says: /arguments do not fit the schema of tool "echo"/,
  },
  {
    script: "schema",
    args: ["ref-loop"],
    call: echo,
    code: "EINVAL",
    says: /the schema is malformed/,
  },
  {
    script: "schema",
    args: ["ref-remote"],
    call: echo,
    code: "EINVAL",
    says: /the schema is malformed/,
  },
  {
    script: "schema",
    args: ["large"],
    call: echo,
    code: "EINVAL",
    says: /larger than \d+ bytes/,
    MiB: 192,
  },
];

export const callRows: readonly Row[] = [...replies, ...inputs];
