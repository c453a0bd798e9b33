// How a layer says yes or no.

import type { Layer, LayerVerdict } from "./types.ts";

export function allows(layer: Layer, because: string, at?: string): LayerVerdict {
  return { layer, allowed: true, because, at, fix: undefined };
}

export function refuses(
  layer: Layer,
  because: string,
  detail: { readonly at?: string; readonly fix?: LayerVerdict["fix"] } = {},
): LayerVerdict {
  return { layer, allowed: false, because, at: detail.at, fix: detail.fix };
}
