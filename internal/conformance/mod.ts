// The door of conformance: the files of `abi/` inside the program, and what is done with them.

export { type Exported, exportAbi } from "./export.ts";
export { abiFile, abiFileNames, abiFiles } from "./files.ts";
export { frameFault } from "./frame-fault.ts";
export { type Frozen, freeze, frozenFile, isFrozen } from "./frozen.ts";
export {
  type AcceptGolden,
  acceptGoldens,
  type Kind,
  type Kinds,
  kindsOf,
  type RejectGolden,
  type Rule,
  rejectGoldens,
  rulesOf,
  type Schema,
  schemaOf,
} from "./goldens.ts";
export { type JudgedLine, judgeBytes, LineJudge } from "./judge-lines.ts";
export { type Outcome, playTalk, skippedTalk, stepMsDefault } from "./play.ts";
export { type Protocol, protocolNamed, protocols, recognise } from "./registry.ts";
export { jsonOutcome, summaryOf, tapEnd, tapPlan, tapPoint } from "./report.ts";
export { selectTalks } from "./select.ts";
export { type Talk, type TalkAbi, talkFolders } from "./talk.ts";
export { TalkConnection } from "./talk-connection.ts";
