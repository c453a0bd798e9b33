// The door of the tool context: what a session has loaded, how it is kept and how it is shown. Pure.

export { type ToolMetadata, toolContextText, toolLine } from "./block.ts";
export {
  effectiveBounds,
  pinnedToolsMax,
  type ToolContextBounds,
  toolContextBytesMax,
  toolContextFileBytesMax,
} from "./bounds.ts";
export { type DecodedToolContext, decodeToolContext, encodeToolContext } from "./codec.ts";
export {
  type Change,
  freshToolContext,
  isLoaded,
  load,
  pin,
  type ToolContext,
  touch,
  unload,
  unpin,
  within,
} from "./state.ts";
