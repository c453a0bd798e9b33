// The door of conformance: the files of `abi/` inside the program, and what is done with them.

export { abiFile, abiFileNames, abiFiles } from "./files.ts";
export { type Frozen, freeze, frozenFile, isFrozen } from "./frozen.ts";
export { type Outcome, playTalk, stepMsDefault } from "./play.ts";
export { jsonOutcome, summaryOf, tapEnd, tapPlan, tapPoint } from "./report.ts";
export { selectTalks } from "./select.ts";
export { type TalkAbi, talkFolders } from "./talk.ts";
export { TalkConnection } from "./talk-connection.ts";
