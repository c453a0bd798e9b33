// A folder in which everything that Bun or Node may pick up by itself tries to act: each trap
// appends its name to one file. `variables` are the environment's half of the same.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const top = resolve(import.meta.dir, "../..");

export interface Stage {
  readonly folder: string;
  /** Names of the traps that acted, in order; empty is the wish. */
  acted(): string[];
  remove(): void;
}

export function setStage(): Stage {
  const folder = mkdtempSync(join(tmpdir(), "hostile-"));
  const record = join(folder, "acted");
  writeFileSync(record, "");
  const trap = (name: string) =>
    `require("node:fs").appendFileSync(${JSON.stringify(record)}, ${JSON.stringify(`${name}\n`)});\n`;
  const put = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  put("trap.js", trap("trap.js"));
  put("trap.cjs", trap("trap.cjs"));
  put("mapped.js", trap("mapped.js"));
  // Below a tsconfig.json of its own nothing is mapped, so node_modules is what is found.
  put("unmapped/tsconfig.json", "{}\n");
  for (const name of [".env", ".env.local", ".env.production", ".env.development"]) {
    put(
      name,
      `BUN_OPTIONS=--preload=${folder}/trap.js\nCTX_SOURCE=/from-dotenv\nCTX_ROOT=/from-dotenv\n`,
    );
  }
  for (const name of ["bunfig.toml", ".bunfig.toml", "config/.bunfig.toml"]) {
    put(name, `preload = ["${folder}/trap.js"]\n[run]\nbun = true\n`);
  }
  put(
    "package.json",
    JSON.stringify({
      name: "hostile",
      version: "6.6.6",
      type: "commonjs",
      main: "./trap.js",
      imports: { "#*": "./trap.js" },
      yargs: { "unknown-options-as-args": true, "boolean-negation": false },
    }),
  );
  put(
    "tsconfig.json",
    JSON.stringify({
      compilerOptions: {
        baseUrl: ".",
        paths: Object.fromEntries(dependencies().map((name) => [name, ["./mapped.js"]])),
        jsx: "react-jsx",
        jsxImportSource: "hostile",
      },
    }),
  );
  for (const name of [...dependencies(), "hostile/jsx-runtime", "bufferutil", "encoding"]) {
    put(`node_modules/${name}/index.js`, trap(`node_modules/${name}`));
    put(`node_modules/${name}/package.json`, JSON.stringify({ name, main: "index.js" }));
  }
  return {
    folder,
    acted: () => readFileSync(record, "utf8").split("\n").filter(Boolean),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Every package of the lock file: an import that was left for run time would find one of these. */
function dependencies(): string[] {
  const lock = JSON.parse(readFileSync(join(top, "package-lock.json"), "utf8")) as {
    packages: Record<string, unknown>;
  };
  return Object.keys(lock.packages)
    .map((path) => path.split("node_modules/").at(-1) as string)
    .filter((name) => name !== "");
}

/** One variable a line, by the harm it would do without the hardened base. */
export function variables(folder: string): Record<string, string> {
  return {
    BUN_OPTIONS: `--preload=${folder}/trap.js`,
    BUN_BE_BUN: "1",
    BUN_INSPECT: "ws://127.0.0.1:6499/hostile?wait=1",
    BUN_INSPECT_CONNECT_TO: "127.0.0.1:6498",
    BUN_INSPECT_NOTIFY: `unix://${folder}/notify.sock`,
    BUN_INSPECT_PRELOAD: `${folder}/trap.js`,
    BUN_CONFIG_VERBOSE_FETCH: "curl",
    BUN_JSC_functionOverrides: `${folder}/trap.js`,
    BUN_JSC_dumpOptions: "2",
    BUN_JSC_nonsense: "1",
    BUN_BYTECODE_ORDER_OUT: `${folder}/order`,
    BUN_BYTECODE_ORDER_NAMES_OUT: `${folder}/names`,
    BUN_BYTECODE_DIGEST_OUT: `${folder}/digest`,
    BUN_TRACE: `${folder}/trace`,
    BUN_WATCHER_TRACE: `${folder}/watcher`,
    BUN_RUNTIME_TRANSPILER_CACHE_PATH: `${folder}/transpiled`,
    BUN_INSTALL: folder,
    BUN_TMPDIR: folder,
    NODE_OPTIONS: `--require ${folder}/trap.cjs --import ${folder}/trap.js --inspect`,
    NODE_PATH: `${folder}/node_modules`,
    NODE_CHANNEL_FD: "0",
    NODE_UNIQUE_ID: "1",
    NODE_V8_COVERAGE: `${folder}/coverage`,
    NODE_COMPILE_CACHE: `${folder}/compiled`,
    NODE_REDIRECT_WARNINGS: `${folder}/warnings`,
    NODE_ENV: "development",
    XDG_CONFIG_HOME: `${folder}/config`,
    HOME: folder,
  };
}
