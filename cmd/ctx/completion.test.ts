// The completion script in a real bash: what a line is completed to, as bash itself would part it.

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeSecret, writeServerSecret } from "../../internal/secret/mod.ts";
import { Place } from "../../testdata/cli/program.ts";

setDefaultTimeout(120_000);

const place = new Place();
afterAll(() => place.remove());

beforeAll(async () => {
  await place.bootstrap();
  const secrets = place.env["CTX_SECRETS_DIR"] as string;
  const places = { secrets, uid: process.getuid?.() ?? 0 };
  writeSecret(places, "acme", "key");
  writeServerSecret(places, "github", "TOKEN", "value");
  const providers = join(place.env["CTX_CONFIG_DIR"] as string, "providers.d");
  mkdirSync(providers, { recursive: true, mode: 0o755 });
  const provider = { name: "openrouter", base_url: "https://openrouter.ai/api/v1" };
  writeFileSync(join(providers, "any.json"), JSON.stringify(provider), { mode: 0o644 });
  const path = join(place.base, "programs/ctx");
  const main = join(import.meta.dir, "main.ts");
  writeFileSync(path, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  chmodSync(path, 0o755);
});

/** What Tab offers after `line`. */
async function offered(line: string): Promise<string[]> {
  const script = `source '${join(import.meta.dir, "completion.bash")}'
COMP_LINE=$1 COMP_POINT=\${#1}; compopt() { :; }; _ctx; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const child = Bun.spawn(["bash", "--norc", "-c", script, "bash", line], {
    env: { ...place.env, PATH: `${join(place.base, "programs")}:${place.env["PATH"]}` },
    stdout: "pipe",
  });
  const text = await new Response(child.stdout).text();
  return text.split("\n").filter(Boolean);
}

const lines = [
  ["ctx pol", ["policy"]],
  ["ctx help val", ["validate-name"]],
  ["ctx agent sta", ["start", "status"]],
  ["ctx agent check rev", ["reviewer"]],
  ["ctx agent new co", []],
  ["ctx agent send coder --app", ["--approve"]],
  ["ctx agent send coder --approve fs.w", ["fs.write"]],
  ["ctx history --c", ["--count"]],
  ["ctx bootstrap --o", ["--owner"]],
  ["ctx ls --l", ["--long"]],
  ["ctx doctor --s", ["--source"]],
  ["ctx help agent sta", ["start", "status"]],
  ["ctx agent new helper --fr", ["--from"]],
  ["ctx agent new helper --tools fs.w", ["fs.write"]],
  ["ctx agent new helper --model debug/s", ["debug/script"]],
  ["ctx agent apply helper.md cod", ["coder"]],
  ["ctx append agent/coder.d/pol", ["agent/coder.d/policy"]],
  ["ctx agent send c", ["coder"]],
  ["ctx send --agent rev", ["reviewer"]],
  // Bash has "fs.w" alone in its hand there, so that is what may be replaced.
  ["ctx agent att", ["attach"]],
  ["ctx agent start coder --no-d", ["--no-default-workspace"]],
  ["ctx terminal out", ["output"]],
  ["ctx object ins", ["inspect", "install"]],
  ["ctx object inspect tool/fs.r", ["tool/fs.read", "tool/fs.replace"]],
  ["ctx object uninstall tool/fs.read --y", ["--yes"]],
  ["ctx object residue ", ["audit", "cleanup"]],
  ["ctx object install x.json --ti", ["--tier"]],
  ["ctx object install x.json --tier u", ["user"]],
  ["ctx terminal create rev", ["reviewer"]],
  ["ctx terminal watch cod", ["coder"]],
  ["ctx terminal output coder --pl", ["--plain"]],
  ["ctx auth log", ["login", "logout"]],
  ["ctx help auth st", ["status"]],
  ["ctx auth login ope", ["openrouter"]],
  ["ctx auth login openrouter --from-env CTX_SEC", ["CTX_SECRETS_DIR"]],
  ["ctx auth login openrouter --s", ["--slot", "--source"]],
  ["ctx auth logout ", ["acme", "mcp/github/TOKEN"]],
  ["ctx abi ver", ["verify"]],
  ["ctx abi show sdk", ["sdk-envelope"]],
  ["ctx abi show op pin", ["ping"]],
  ["ctx abi conformance --so", ["--socket", "--source"]],
  ["ctx abi conformance --socket s --asking-s", ["--asking-socket"]],
  ["ctx abi conformance --socket s --abi v", ["v1", "v2"]],
  ["ctx policy explain coder tool:fs.w", ["fs.write"]],
  ["ctx policy explain coder tool:fs.write exe", ["execute"]],
  ["ctx which model debug/e", ["debug/echo"]],
  ["ctx cat agent/coder.d/pol", ["agent/coder.d/policy"]],
] as const;

for (const [line, expected] of lines) {
  test(line, async () => {
    expect(await offered(line)).toEqual([...expected]);
  });
}
