// From a reference to a client. Everything is read anew at each call (the model object, the provider
// file, the key) and the client is kept as long as what was read stays the same: a thousand turns
// share one client, a changed file makes another, and no stale key or host is ever used.

import { fail } from "../abi/mod.ts";
import type { ModelChoice } from "../control/mod.ts";
import { readSecret } from "../secret/mod.ts";
import {
  loadModel,
  loadProviders,
  type ModelObject,
  modelName,
  type Places,
  type Provider,
  resolveAlias,
  type Tree,
} from "../tree/mod.ts";
import { echoClient, scriptClient } from "./debug.ts";
import { keyHint } from "./failure.ts";
import { type OpenaiOptions, openaiClient } from "./openai.ts";
import type { ModelClient } from "./types.ts";

/** Clients kept; the one not used for longest goes first. */
const clientsMax = 64;

export interface ResolveInput {
  readonly tree: Tree;
  readonly places: Places;
  readonly choice: ModelChoice;
}

/**
 * Throws ENOENT for a missing model or provider, EACCES for one that is disabled or has no key,
 * EINVAL for a malformed file or a driver that this version does not have.
 */
export function resolveModel(input: ResolveInput): ModelClient {
  const { tree, places, choice } = input;
  const ref = choice.kind === "ref" ? choice.ref : resolveAlias(tree, choice.name);
  const object = loadModel(tree, ref);
  const name = modelName(ref);
  switch (object.driver) {
    case "debug.echo":
      return echoClient(name, object.limit);
    case "debug.script":
      return scriptClient(name, object.limit);
    case "openai.chat":
      return keptClient(tree, places, openaiOptions(places, object));
    default:
      return fail("EINVAL", `model "${name}" has the driver "${object.driver}", which is unknown`, {
        hint: `write debug.echo, debug.script or openai.chat to model/${name}.d/driver`,
      });
  }
}

function openaiOptions(places: Places, object: ModelObject): OpenaiOptions {
  const name = modelName(object.ref);
  const provider = providerOf(places, object.ref.provider, name);
  const key = readSecret(places, provider.name);
  if (key === undefined && !isLoopback(provider.baseUrl)) {
    fail("EACCES", `model "${name}" has no key: none is stored for provider "${provider.name}"`, {
      hint: keyHint(provider.name),
    });
  }
  return {
    name,
    provider: provider.name,
    model: object.id,
    baseUrl: provider.baseUrl,
    key,
    limit: object.limit ?? provider.modelLimits.get(object.id),
    effort: object.effort === "auto" ? undefined : object.effort,
    parameters: { ...provider.default, ...object.parameters },
  };
}

function providerOf(places: Places, wanted: string, model: string): Provider {
  const provider = loadProviders(places).find(({ name }) => name === wanted);
  if (provider === undefined) {
    return fail("ENOENT", `provider "${wanted}" of model "${model}" does not exist`, {
      hint: `describe it in ${places.config}/providers.d/${wanted}.json`,
    });
  }
  if (!provider.enabled) {
    fail("EACCES", `provider "${wanted}" of model "${model}" is disabled`, {
      hint: `set "enabled" to true in ${provider.file}`,
    });
  }
  if (!provider.formats.includes("openai.chat")) {
    fail("EINVAL", `provider "${wanted}" does not speak openai.chat, as model "${model}" wants`, {
      hint: `see "formats" in ${provider.file}`,
    });
  }
  return provider;
}

/** A server on this machine needs no key; what listens there is the person's own. */
export function isLoopback(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  if (hostname === "localhost" || hostname.endsWith(".localhost")) return true;
  return hostname === "[::1]" || /^127(\.[0-9]{1,3}){3}$/.test(hostname);
}

const kept = new Map<string, { readonly content: string; readonly client: ModelClient }>();

function keptClient(tree: Tree, places: Places, options: OpenaiOptions): ModelClient {
  const place = `${tree.source}\n${places.config}\n${options.name}`;
  const content = JSON.stringify(options);
  const found = kept.get(place);
  kept.delete(place);
  const client = found?.content === content ? found.client : openaiClient(options);
  kept.set(place, { content, client });
  for (const oldest of kept.keys()) {
    if (kept.size <= clientsMax) break;
    kept.delete(oldest);
  }
  return client;
}
