// The door of prompt construction: the system message and the message array. Pure.

export { contractText } from "./contract.ts";
export {
  argumentObject,
  buildMessages,
  type PromptHistory,
  type PromptMessage,
} from "./messages.ts";
export { defaultTemplate, type PromptInputs, promptPlaceholders, renderPrompt } from "./render.ts";
