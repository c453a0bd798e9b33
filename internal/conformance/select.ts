// Which talks a conformance run plays: those of one protocol, in the order of their names.

import { fail } from "../abi/mod.ts";
import { parseTalk, type Talk, type TalkAbi, talkFolders } from "./talk.ts";

/**
 * `only` is a talk's name with or without its protocol. ENOENT when there is nothing to play, because
 * a run that plays nothing would look like one that found nothing wrong.
 */
export function selectTalks(
  files: ReadonlyMap<string, string>,
  abi: TalkAbi,
  only?: string,
): readonly Talk[] {
  const start = `${talkFolders[abi]}/talk/`;
  const talks = [...files]
    .filter(([path]) => path.startsWith(start) && path.endsWith(".jsonl"))
    .map(([path, text]) => parseTalk(`abi/${path}`, text))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  if (talks.length === 0) fail("ENOENT", `there are no talks for ${talkFolders[abi]} yet`);
  if (only === undefined) return talks;
  const named = talks.filter(({ name }) => name === only || name === `${abi}/${only}`);
  if (named.length > 0) return named;
  return fail("ENOENT", `talk ${JSON.stringify(only)} does not exist for ${talkFolders[abi]}`, {
    hint: "leave out --only to see the names",
  });
}
