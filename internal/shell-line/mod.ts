// The door of the line at a shell's prompt: its words, its keys, its editing, how it is drawn. Pure.

export {
  type Candidate,
  type Completion,
  columns,
  complete,
  completionTarget,
  type Target,
} from "./completion.ts";
export {
  type Edited,
  type Editor,
  type Effect,
  edit,
  freshEditor,
  lineUnitsMax,
} from "./editor.ts";
export {
  decodeHistory,
  encodeHistory,
  historyBytesMax,
  historyLinesMax,
  remembered,
} from "./history.ts";
export { type Key, KeyDecoder, type KeyName, pasteBytesMax } from "./keys.ts";
export { type Drawing, draw, erase, layout, leave, nothingDrawn, type Shown } from "./layout.ts";
export { marks, pasteMarksOff, pasteMarksOn } from "./marks.ts";
export { visible, widthOf } from "./width.ts";
export { commandsIn, type Lexed, lex, quoteWord, type Word } from "./words.ts";
