// The descriptors between the host and one launch: which there are, what number each has for the child,
// and who closes what.

import { closeSync } from "node:fs";
import { memoryFile, pipe, streamPair } from "../os/mod.ts";
import { encodeArguments, type SandboxDescriptors } from "../sandbox/mod.ts";
import { fenceFile } from "./fence.ts";
import type { StartOptions } from "./start.ts";

/**
 * The child's numbers: 0 to 2 are its streams, 3 the options, 5 the token gate, 7 and 8 the fence and
 * the early program's input where there are such. bubblewrap itself closes what it copies from 9 on.
 */
export const childDescriptors: SandboxDescriptors = { block: 4, seccomp: 6, programs: 9 };
export const gateDescriptor = 5;
export const fenceDescriptor = 7;

type ChannelOptions = Pick<
  StartOptions,
  "arguments" | "seccomp" | "programs" | "identity" | "stdin" | "warm"
>;

export interface Channels {
  readonly stdout: number;
  readonly stderr: number;
  readonly block: number;
  readonly gate: number;
  /** The host's own descriptor of a stdin that comes later. */
  readonly stdin: number | undefined;
  /** The host's end of the early program's input. */
  readonly warm: number | undefined;
  /** Descriptors of the child by number; a string is Bun's own word, and nothing above 2. */
  readonly child: readonly (number | "ignore")[];
  readonly fenced: boolean;
  closeChild(): void;
  closeGates(): void;
  closeHost(): void;
}

export function openChannels(options: ChannelOptions): Channels {
  const opened: number[] = [];
  const keep = <T extends number | [number, number]>(value: T): T => {
    for (const fd of [value].flat()) opened.push(fd as number);
    return value;
  };
  try {
    const owner = options.identity;
    const [outRead, outWrite] = keep(pipe(owner));
    const [errorRead, errorWrite] = keep(pipe(owner));
    const [block, blockChild] = keep(streamPair());
    const [gate, gateChild] = keep(streamPair());
    const list = keep(memoryFile("bwrap-arguments", encodeArguments(options.arguments)));
    const filter = keep(memoryFile("bwrap-seccomp", options.seccomp));
    const late = options.stdin === "later";
    const given = typeof options.stdin === "number" ? options.stdin : undefined;
    const content = options.stdin === "later" ? new Uint8Array() : options.stdin;
    const input = typeof content === "object" ? keep(memoryFile("stdin", content)) : undefined;
    const fence = fenceFile(fenceDescriptor);
    const fences = fence === undefined ? [] : [keep(fence)];
    const programs = (options.programs ?? []).map(({ content }) =>
      keep(memoryFile("bwrap-program", new TextEncoder().encode(content))),
    );
    const ours = [list, filter, ...fences, ...programs];
    const childOnly = [outWrite, errorWrite, blockChild, gateChild, ...ours];
    if (input !== undefined && !late) childOnly.push(input);
    const close = (list: number[]) => {
      for (const fd of list.splice(0)) closeSync(fd);
    };
    const gates = [block, gate];
    if (input !== undefined && late) gates.push(input);
    const [warmRead, warm] = options.warm ? keep(pipe(owner)) : [undefined, undefined];
    if (warmRead !== undefined) childOnly.push(warmRead);
    if (warm !== undefined) gates.push(warm);
    const early = warmRead === undefined ? [] : [warmRead];
    const first = [
      given ?? input ?? ("ignore" as const),
      ...[outWrite, errorWrite, list, blockChild, gateChild, filter, ...fences, ...early],
    ];
    const unused = Array.from(
      { length: childDescriptors.programs - first.length },
      () => "ignore" as const,
    );
    return {
      ...{ stdout: outRead, stderr: errorRead, block, gate, stdin: late ? input : undefined, warm },
      child: [...first, ...unused, ...programs],
      fenced: fence !== undefined,
      closeChild: () => close(childOnly),
      closeGates: () => close(gates),
      closeHost: () => close([outRead, errorRead, ...gates.splice(0)]),
    };
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    throw error;
  }
}
