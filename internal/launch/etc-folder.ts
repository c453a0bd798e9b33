// The /etc of a sandbox: the few files that programs need. Accounts are made up, so that no name of
// the host is told; nothing that a shell would run at its start is here.

import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { GeneratedEntry, GeneratedFolders } from "./generated.ts";

export interface EtcInput {
  readonly user: string;
  readonly uid: number;
  readonly gid: number;
  /** Address of the resolver in a sandbox with a network. */
  readonly resolver: string | undefined;
}

/** Host files and folders that are copied as they are when they exist. */
const copied = ["ld.so.cache", "localtime", "ssl/certs", "ssl/openssl.cnf", "alternatives"];

/** One copied file. Past it the file is left out; the largest in use is the certificate bundle. */
const copiedBytesMax = 4 * 1024 * 1024;

export function etcFolder(folders: GeneratedFolders, input: EtcInput): string {
  const stamps = copied.map((name) => {
    const facts = lstatSync(`/etc/${name}`, { throwIfNoEntry: false });
    return facts === undefined ? "" : `${facts.ino}:${facts.mtimeMs}:${facts.size}`;
  });
  const key = JSON.stringify(["etc", input, stamps]);
  return folders.folder(key, () => [
    ...accounts(input).map(file),
    ...copied.flatMap((name) => copyOf(name)),
  ]);
}

function file([path, content]: readonly [string, string]): GeneratedEntry {
  return { kind: "file", path, content };
}

function accounts({ user, uid, gid, resolver }: EtcInput): (readonly [string, string])[] {
  const nobody = 65534;
  const passwd = [
    `${user}:x:${uid}:${gid}:${user}:/home/agent:/bin/sh`,
    ...(uid === 0 ? [] : ["root:x:0:0:root:/:/usr/sbin/nologin"]),
    ...(uid === nobody ? [] : [`nobody:x:${nobody}:${nobody}:nobody:/:/usr/sbin/nologin`]),
  ];
  const group = [
    `${gid === 0 ? "root" : user}:x:${gid}:`,
    ...(gid === 0 ? [] : ["root:x:0:"]),
    ...(gid === nobody ? [] : [`nogroup:x:${nobody}:`]),
  ];
  const hosts = "127.0.0.1 localhost\n::1 localhost\n127.0.1.1 cortexfs\n";
  const lookups = "passwd: files\ngroup: files\nhosts: files dns\nservices: files\n";
  return [
    ["passwd", `${passwd.join("\n")}\n`],
    ["group", `${group.join("\n")}\n`],
    ["nsswitch.conf", lookups],
    ["hosts", hosts],
    ["hostname", "cortexfs\n"],
    ...(resolver === undefined ? [] : [["resolv.conf", `nameserver ${resolver}\n`] as const]),
  ];
}

/** Links are kept as links: they lead into /usr, which the sandbox has. */
function copyOf(path: string): GeneratedEntry[] {
  const host = `/etc/${path}`;
  const facts = lstatSync(host, { throwIfNoEntry: false });
  if (facts?.isDirectory()) return readdirSync(host).flatMap((name) => copyOf(`${path}/${name}`));
  if (facts?.isSymbolicLink()) return [{ kind: "link", path, target: readlinkSync(host) }];
  if (!facts?.isFile() || facts.size > copiedBytesMax) return [];
  try {
    return [{ kind: "file", path, content: new Uint8Array(readFileSync(host)) }];
  } catch {
    // Not for everybody to read, so not for an agent.
    return [];
  }
}
