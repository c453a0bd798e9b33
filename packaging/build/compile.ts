// One call of the bundler for one program. The options are the product's start time and its
// safety: read docs/decisions/0003-hardened-base.md before changing one.

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

export interface CompileJob {
  readonly top: string;
  /** The hardened copy of bun that the program is put onto. */
  readonly base: string;
  readonly commit: string;
  readonly entry: string;
  /** A folder of this build alone, on the file system of `target`. */
  readonly scratch: string;
  /** Where the finished program appears, in one step. */
  readonly target: string;
  /** How much hotter than usual code has to be before it is compiled to machine code. */
  readonly jitPolicy?: number;
}

const options = [
  "--compile",
  "--minify",
  "--bytecode",
  "--format=esm",
  "--splitting",
  "--sourcemap=linked",
  "--reject-unresolved",
  // A program reads none of these from the folder it is started in.
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
  "--no-compile-autoload-tsconfig",
  "--no-compile-autoload-package-json",
];

export async function compile(job: CompileJob): Promise<void> {
  const name = job.target.slice(job.target.lastIndexOf("/") + 1);
  const outfile = join(job.scratch, name);
  const metafile = join(job.scratch, `${name}.meta.json`);
  const entry = await withFlatParts(job, name);
  const base = `--compile-executable-path=${job.base}`;
  const policy = job.jitPolicy === undefined ? [] : [`--compile-jit-policy=${job.jitPolicy}`];
  await bundle(job, metafile, [...options, ...policy, base, `--outfile=${outfile}`, entry]);
  // The map is inside the program as well; the copy beside it would only be litter in dist/.
  rmSync(`${outfile}.map`, { force: true });
  renameSync(outfile, job.target);
}

/** The parts of a main that become one piece of code each. */
const flatParts = /"\.\/(flat[a-z-]*)\.ts"/g;

/**
 * Splitting makes a piece of code for every set of shared modules, and each piece costs a start
 * about half a millisecond. The parts that a main calls flat are bundled alone first, and a copy of
 * the main imports those. Gives back the entry to compile.
 */
async function withFlatParts(job: CompileJob, name: string): Promise<string> {
  const main = resolve(job.top, job.entry);
  const folder = dirname(main);
  const text = readFileSync(main, "utf8");
  const parts = [...text.matchAll(flatParts)].map((match) => match[1] as string);
  if (parts.length === 0) return job.entry;
  for (const part of parts) {
    const file = join(job.scratch, `${name}-${part}.js`);
    const flat = ["--format=esm", "--target=bun", `--outfile=${file}`, join(folder, `${part}.ts`)];
    await bundle(job, join(job.scratch, `${name}-${part}.meta.json`), flat);
  }
  const entry = join(job.scratch, `${name}-main.ts`);
  const rewritten = text
    .replaceAll(flatParts, (_, part: string) => `"./${name}-${part}.js"`)
    .replaceAll(/"\.\/([a-z-]+\.ts)"/g, (_, file: string) => JSON.stringify(join(folder, file)));
  writeFileSync(entry, rewritten);
  return entry;
}

async function bundle(job: CompileJob, metafile: string, args: readonly string[]): Promise<void> {
  const common = [
    `--define=CORTEXFS_COMMIT=${JSON.stringify(job.commit)}`,
    `--metafile=${metafile}`,
  ];
  const child = Bun.spawn([process.execPath, "build", ...common, ...args], {
    cwd: job.top,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (status !== 0) throw new Error(`cannot compile ${job.entry}\n${out}${err}`.trimEnd());
  refuseForeignImports(job, metafile);
}

interface Metafile {
  /** By name: the chunks of the program itself. */
  readonly outputs: Record<string, unknown>;
  readonly inputs: Record<string, { readonly imports: readonly MetaImport[] }>;
}
interface MetaImport {
  readonly path: string;
  readonly external?: boolean;
}

/** An import left for run time would be looked up in the node_modules of the current folder. */
function refuseForeignImports({ top, entry }: CompileJob, metafile: string): void {
  const meta = JSON.parse(readFileSync(metafile, "utf8")) as Metafile;
  const own = new Set(Object.keys(meta.outputs));
  for (const [file, input] of Object.entries(meta.inputs)) {
    for (const wanted of input.imports) {
      if (wanted.external !== true || isBuiltIn(wanted.path) || own.has(wanted.path)) continue;
      if (isMacro(join(top, file), wanted.path)) continue;
      throw new Error(`${entry}: ${file} would import "${wanted.path}" at run time`);
    }
  }
}

/** A macro runs while its importer is bundled; the metafile names it like what is left for run time. */
function isMacro(file: string, path: string): boolean {
  const clause = `from ${JSON.stringify(path)} with { type: "macro" };`;
  return existsSync(file) && readFileSync(file, "utf8").includes(clause);
}

function isBuiltIn(path: string): boolean {
  return path === "bun" || /^(?:node|bun):/.test(path) || nodeModules.has(path);
}

const nodeModules = new Set<string>((await import("node:module")).builtinModules);
