import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { ask, connect, Stage, update } from "../../testdata/run-socket/stage.ts";
import { type ProcessStamp, processFacts } from "../os/mod.ts";
import { placesMax } from "./bounds.ts";

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
  stage.roots = [processFacts(process.pid) as ProcessStamp];
});
afterEach(() => stage.end());

const peerUid = process.getuid?.() ?? 0;
const place = (session: string, scope = "private") =>
  stage.sockets.place({ agent: "coder", session, scope, peerUid });

test("a place stays from run to run, with a socket while one is open", async () => {
  const folder = place("default");
  expect([readdirSync(folder), statSync(folder).mode & 0o777]).toEqual([[], 0o700]);
  const { ino } = statSync(folder);
  for (const id of ["a", "b"]) {
    const socket = stage.open({}, { folder });
    expect([socket.folder, readdirSync(folder)]).toEqual([folder, ["control.sock"]]);
    const connection = await connect(socket);
    expect(await ask(connection, update(id))).toMatchObject({ request_id: id, ok: true });
    await socket.close();
    expect([place("default"), readdirSync(folder), statSync(folder).ino]).toEqual([
      folder,
      [],
      ino,
    ]);
  }
});

test("agents, sessions, scopes and uids have places of their own", () => {
  const whole = { agent: "coder", session: "default", scope: "private", peerUid };
  const { sockets } = stage;
  const folders = [
    sockets.place(whole),
    sockets.place({ ...whole, agent: "reviewer" }),
    sockets.place({ ...whole, session: "other" }),
    sockets.place({ ...whole, scope: "shared:x" }),
    sockets.place({ ...whole, peerUid: peerUid + 1 }),
  ];
  expect(new Set(folders).size).toBe(folders.length);
  expect(statSync(folders[4] as string).mode & 0o777).toBe(0o711);
});

test("places are bounded: the one used least lately goes, never one in use", async () => {
  const used = place("used");
  const socket = stage.open({}, { folder: used });
  const first = place("s0");
  for (let n = 1; n < placesMax; n++) place(`s${n}`);
  expect([existsSync(used), existsSync(first)]).toEqual([true, false]);
  expect(readdirSync(dirname(used))).toHaveLength(placesMax);
  await socket.close();
});
