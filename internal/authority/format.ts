// A verdict as a person reads it. Everything said here is in the verdict already.

import type { LayerVerdict, Question, Verdict } from "./types.ts";

/** Lines without a final newline: the answer, then each layer with its reason and its way out. */
export function formatVerdict(agent: string, question: Question, verdict: Verdict): string {
  const { object, permission } = question;
  const answer = verdict.allowed ? "allowed" : `refused [${verdict.code}]`;
  const head = `${agent} ${object.class}:${object.name} ${permission}: ${answer}`;
  return [head, ...verdict.layers.flatMap(formatLayer)].join("\n");
}

function formatLayer(layer: LayerVerdict): string[] {
  const word = layer.allowed ? "ok" : "refused";
  const at = layer.at === undefined ? "" : ` (${layer.at})`;
  const line = `  ${word.padEnd(7)}  ${layer.layer.padEnd(13)}  ${layer.because}${at}`;
  if (layer.fix === undefined) return [line];
  const lines = layer.fix.line.split("\n").map((text) => `${" ".repeat(28)}${text}`);
  const noun = lines.length === 1 ? "line" : "lines";
  return [line, `${" ".repeat(26)}to allow it, ${layer.fix.file} needs the ${noun}`, ...lines];
}
