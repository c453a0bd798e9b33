// The machine of the clients on a stage for tests: every client takes what the test lets it take.

import {
  type ClientsEffect,
  type ClientsEvent,
  type FirstLine,
  TerminalClients,
  TerminalFrameDecoder,
  type TerminalServerFrame,
} from "./mod.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

export function text(list: readonly Uint8Array[]): string {
  return list.map((one) => String.fromCharCode(...one)).join("");
}

export class Stage {
  readonly machine = new TerminalClients({ cols: 80, rows: 24 });
  readonly log: ClientsEffect[] = [];
  readonly taken = new Map<number, Uint8Array[]>();
  readonly asked: { generation: number; position: number }[] = [];
  readonly typed: string[] = [];
  nowMs = 0;

  step(event: ClientsEvent): void {
    const effects = this.machine.step(event);
    this.log.push(...effects);
    for (const effect of effects) {
      if (effect.kind === "snapshot") {
        this.asked.push({ generation: effect.generation, position: this.machine.position });
      } else if (effect.kind === "write") this.typed.push(text([effect.bytes]));
    }
  }

  join(client: number, first: FirstLine): void {
    this.step({ kind: "join", client, first, nowMs: this.nowMs });
  }

  data(chunk: Uint8Array): void {
    this.step({ kind: "data", bytes: chunk, nowMs: this.nowMs });
  }

  /** Answers the oldest snapshot that was asked for; its bytes say which position it stands for. */
  shoot(): void {
    const asked = this.asked.shift();
    if (asked === undefined) return;
    const shot = { bytes: bytes(`<${asked.position}>`), approximate: false, cols: 80, rows: 24 };
    this.step({ kind: "snapshot", ...asked, shot, nowMs: this.nowMs });
  }

  take(client: number, most = Number.POSITIVE_INFINITY): void {
    for (let left = most; left > 0; ) {
      const head = this.machine.head(client)?.slice(0, left);
      if (head === undefined || head.length === 0) return;
      left -= head.length;
      const list = this.taken.get(client) ?? [];
      list.push(head);
      this.taken.set(client, list);
      this.step({ kind: "taken", client, bytes: head.length, nowMs: this.nowMs });
    }
  }

  frames(client: number): TerminalServerFrame[] {
    const decoder = new TerminalFrameDecoder();
    const results = (this.taken.get(client) ?? []).flatMap((chunk) => decoder.push(chunk));
    return results.map((result) => {
      if (!result.ok) throw new Error(result.reason);
      return result.frame;
    });
  }

  of<Kind extends ClientsEffect["kind"]>(kind: Kind): Extract<ClientsEffect, { kind: Kind }>[] {
    return this.log.filter((effect) => effect.kind === kind) as never;
  }
}
