// Builds every program of cmd/ into dist/. Run by `make build` with the pinned bun, which is also
// the bundler. Prints one line a program; says nothing twice and does nothing when nothing changed.

import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { compile } from "./compile.ts";
import { harden } from "./hardening.ts";
import { programs, sourceDigest } from "./sources.ts";

const top = resolve(import.meta.dir, "../..");
const dist = join(top, "dist");
const cache = join(top, ".cache");
const stamp = join(cache, "built");

/** The hardened copy of this very bun, made once for each pair of bun and hardening. */
function hardenedBase(): string {
  const recipe = readFileSync(join(import.meta.dir, "hardening.ts"));
  const size = statSync(process.execPath).size;
  const key = createHash("sha256").update(recipe).update(`${Bun.revision} ${size}`).digest("hex");
  const base = join(cache, `base-${Bun.version}-${process.arch}-${key.slice(0, 16)}`);
  if (existsSync(base)) return base;
  for (const old of readdirSync(cache).filter((name) => name.startsWith("base-"))) {
    rmSync(join(cache, old));
  }
  const binary = readFileSync(process.execPath);
  harden(binary, process.arch);
  const fresh = join(cache, `fresh-base-${process.pid}`);
  writeFileSync(fresh, binary);
  chmodSync(fresh, 0o755);
  renameSync(fresh, base);
  return base;
}

/** Twelve digits of the commit, with `-changed` when what is built differs from it. */
function commitName(): string {
  const git = (...args: string[]) =>
    Bun.spawnSync(["git", "-c", `safe.directory=${top}`, ...args], { cwd: top, stderr: "ignore" });
  const head = git("rev-parse", "--short=12", "HEAD");
  if (!head.success) return "unknown";
  const changed = git("status", "--porcelain", "--", "abi", "cmd", "internal", "package-lock.json");
  return head.stdout.toString().trim() + (changed.stdout.length > 0 ? "-changed" : "");
}

/**
 * A program that runs its code once and then waits for another gains nothing from a compiler but the
 * pages that the compiler takes: a tenth of its memory and a fifth of its time.
 */
const jitPolicies: Readonly<Record<string, { readonly jitPolicy: number }>> = {
  ctxmcp: { jitPolicy: 10 },
};

/** One program that does not compile keeps none of the others from being built. */
async function buildAll(names: readonly string[], commit: string): Promise<string[]> {
  const failures: string[] = [];
  const base = hardenedBase();
  const scratch = mkdtempSync(join(cache, "build-"));
  try {
    const waiting = [...names];
    const worker = async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const begun = performance.now();
        const target = join(dist, name);
        const job = {
          ...{ top, base, commit, entry: `cmd/${name}/main.ts`, scratch, target },
          ...jitPolicies[name],
        };
        try {
          await compile(job);
          report(name, performance.now() - begun);
        } catch (error) {
          failures.push(error instanceof Error ? error.message : String(error));
        }
      }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, worker));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return failures;
}

function report(name: string, milliseconds: number): void {
  const megabytes = statSync(join(dist, name)).size / 1e6;
  const seconds = (milliseconds / 1000).toFixed(1);
  process.stdout.write(`  dist/${name.padEnd(8)} ${seconds} s  ${megabytes.toFixed(1)} MB\n`);
}

/** True when dist/ holds exactly these programs, made from exactly these sources. */
function upToDate(names: readonly string[], digest: string): boolean {
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== digest) return false;
  return names.every((name) => existsSync(join(dist, name)));
}

mkdirSync(dist, { recursive: true });
mkdirSync(cache, { recursive: true });
const names = programs(top);
const commit = commitName();
const digest = sourceDigest(top, commit);
if (!upToDate(names, digest)) {
  rmSync(stamp, { force: true });
  process.stdout.write(`building ${names.length} programs at ${commit}\n`);
  const failures = await buildAll(names, commit);
  for (const failure of failures) process.stderr.write(`${failure}\n`);
  if (failures.length > 0) process.exit(1);
  writeFileSync(stamp, digest);
}
