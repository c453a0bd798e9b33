// Starts one sandbox as a uid that has no supplementary groups and one that has its own gid as such,
// and prints what the kernel says of the programs in both, inside and outside.
// Usage: identity-seen.ts BASE UID, as root.

import { readFileSync } from "node:fs";
import { childDescriptors, type Identity, standSandbox } from "../../internal/bwrap/mod.ts";
import { bwrapArguments, seccompProgram } from "../../internal/sandbox/mod.ts";
import { plainSpec } from "./plain-spec.ts";

const [base = "", id = ""] = process.argv.slice(2);
const uid = Number(id);

async function seen(identity: Identity) {
  const standing = await standSandbox({
    arguments: bwrapArguments(plainSpec(base), childDescriptors),
    seccomp: seccompProgram(process.arch === "arm64" ? "arm64" : "x64", { network: false }),
    program: ["/bin/cat", "/proc/self/status"],
    combined: true,
    identity,
    signal: new AbortController().signal,
  });
  const outside = facts(readFileSync(`/proc/${standing.init.pid}/status`, "utf8"));
  const outer = facts(readFileSync(`/proc/${standing.root.pid}/status`, "utf8"));
  const sandbox = standing.release();
  const [text] = await Promise.all([textOf(sandbox.stdout), textOf(sandbox.stderr)]);
  await sandbox.kill(0);
  return { inside: facts(text), outside, outer };
}

function facts(status: string): Record<string, string> {
  const lines = status.matchAll(/^(Uid|Gid|Groups|Cap\w+|NoNewPrivs|Seccomp):[ \t]*(.*?)[ \t]*$/gm);
  return Object.fromEntries([...lines].map(([, name, value]) => [name, value]));
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  return text;
}

const without = await seen({ uid, gid: uid, groups: [] });
const withOne = await seen({ uid, gid: uid, groups: [uid] });
console.log(JSON.stringify({ without, withOne }));
process.exit(0);
