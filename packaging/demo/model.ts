// Which model answers: the story server of testdata on loopback, or a server of the person's own.
// Either way it is a provider file and a model object in the tree, written here as a person would.

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
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
  if (wanted.baseUrl === "" && `${wanted.model}${wanted.keyFile}` !== "") {
    throw new Error("MODEL and API_KEY_FILE need BASE_URL=address beside them");
  }
  if (wanted.baseUrl !== "") {
    if (wanted.model === "") throw new Error("BASE_URL needs MODEL=name beside it");
    if (wanted.keyFile !== "" && !existsSync(wanted.keyFile)) {
      throw new Error(`API_KEY_FILE "${wanted.keyFile}" does not exist`);
    }
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
  mkdirSync(join(folder, `${object}.d`), { recursive: true });
  writeFileSync(join(folder, `${object}.d/id`), `${answering.name}\n`);
  writeFileSync(join(folder, `${object}.d/driver`), "openai.chat\n");
  const runner = readFileSync(join(stage.source, "model/debug/echo"), "utf8");
  writeFileSync(join(folder, object), runner.replaceAll("debug/echo", `demo/${object}`));
  chmodSync(join(folder, object), 0o755);
  return `demo/${object}`;
}

function storeKey(stage: Places, key: string): void {
  const folder = join(stage.secrets, "provider/demo");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "default"), `${key.trim()}\n`, { mode: 0o600 });
}
