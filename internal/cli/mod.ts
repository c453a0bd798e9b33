// The door of the command line: how programs start, print, report and end. Everything here is on
// the start-up path of every program, so nothing here may import more than node:fs.

export {
  escapeJson,
  escapeLine,
  escapeText,
  revealLine,
  revealText,
  safeJson,
} from "./escape.ts";
export { everyCommandFlags, type FlagKinds, type ParsedFlags, parseFlags } from "./flags.ts";
export {
  isTerminal,
  note,
  notePart,
  print,
  printJson,
  printRaw,
  ReaderGone,
  type Style,
  styled,
  wantsColour,
  writeBytes,
} from "./output.ts";
export { type Report, reportError } from "./report.ts";
export { onInterrupt, type Program, runMain, versionLine } from "./run.ts";
export { type RootOptions, unreadable, viewPath, viewRoot } from "./view.ts";
