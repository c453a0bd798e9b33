// Which model answers: the story server of testdata on loopback, or a server of the person's own.
// Either way it is a provider file and a model object in the tree, written here as a person would.

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type ModelServer, startModelServer } from "../../testdata/model-server/server.ts";
import type { Stage } from "./stage.ts";

export interface Wanted {
  readonly baseUrl: string;
  readonly model: string;
  readonly keyFile: string;
}

export interface Answering {
  readonly name: string;
  readonly baseUrl: string;
  /** The story server; undefined when the model is somebody else's. */
  readonly story: ModelServer | undefined;
}

/** Milliseconds before each piece of an answer, so that streaming can be watched. */
const storyDripMs = 15;

export function chooseModel(wanted: Wanted, deniedTool: string): Answering {
  if (wanted.baseUrl !== "") {
    if (wanted.model === "") throw new Error("BASE_URL needs MODEL=name beside it");
    return { name: wanted.model, baseUrl: wanted.baseUrl, story: undefined };
  }
  const story = startModelServer({
    mode: "story",
    denied: deniedTool,
    dripMs: storyDripMs,
    // As some gateways do; a call must survive it.
    emptyNames: true,
    usage: { input: 100, output: 20 },
  });
  return { name: "story", baseUrl: story.baseUrl, story };
}

type Places = Pick<Stage, "source" | "config" | "secrets">;

/** Gives back the model's name in the tree, `demo/<model>`. */
export function addModel(
  stage: Places,
  answering: Pick<Answering, "name" | "baseUrl">,
  keyFile: string,
): string {
  const object = answering.name.replace(/[^a-zA-Z0-9._+-]/g, "-");
  const provider = {
    name: "demo",
    base_url: answering.baseUrl,
    formats: ["openai.chat"],
    models: [answering.name],
  };
  mkdirSync(join(stage.config, "providers.d"), { recursive: true });
  writeFileSync(
    join(stage.config, "providers.d/demo.json"),
    `${JSON.stringify(provider, null, 2)}\n`,
  );
  if (keyFile !== "") storeKey(stage, readFileSync(keyFile, "utf8"));
  const folder = join(stage.source, "model/demo");
  mkdirSync(join(folder, `${object}.d/session`), { recursive: true });
  const controls: Readonly<Record<string, string>> = {
    id: `${answering.name}\n`,
    driver: "openai.chat\n",
    cap: "chat\nstream\ntool_call_syntax\n",
    effort: "auto\n",
    default: "{}\n",
    fallback: "",
    limit: "unknown\n",
    status: "ready\n",
    log: "",
  };
  for (const [name, text] of Object.entries(controls)) {
    writeFileSync(join(folder, `${object}.d`, name), text);
  }
  const runner = `#!${stage.source}/bin/ctx exec\n# class: model\n# name: demo/${object}\n`;
  writeFileSync(join(folder, object), runner);
  chmodSync(join(folder, object), 0o755);
  const main = join(stage.source, "model/main");
  unlinkSync(main);
  symlinkSync(`demo/${object}`, main);
  giveAway(stage, folder);
  return `demo/${object}`;
}

function storeKey(stage: Places, key: string): void {
  const folder = join(stage.secrets, "provider/demo");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "default"), `${key.trim()}\n`, { mode: 0o600 });
}

/** Objects of the tree belong to whoever owns the tree itself. */
function giveAway(stage: Places, folder: string): void {
  execFileSync("chown", ["-R", "--reference", join(stage.source, "model"), folder]);
}
