// What the commands of objects have in common: their words, and what they print of a receipt.

import { fail } from "../../internal/abi/mod.ts";
import { print } from "../../internal/cli/mod.ts";
import type { InstallReceipt } from "../../internal/install/mod.ts";
import type { Arguments } from "./command.ts";

export function manifestsOf(args: Arguments): readonly string[] {
  return [args.need("manifest"), ...args.list("more")];
}

/** "tool/x 1.2.3, system tier"; a v1 object has no version. */
export function titleOf(object: string, { version, tier }: InstallReceipt): string {
  return `${object}${version === null ? "" : ` ${version}`}, ${tier} tier`;
}

export function printReceipt(receipt: InstallReceipt): void {
  const { executable, manifest_sha256, definition, previous, installed_at } = receipt;
  const { sha256, bytes, dev, ino } = executable;
  print(`  installed   ${installed_at}`);
  print(`  executable  sha256 ${sha256}, ${bytes} bytes, device ${dev}, inode ${ino}`);
  print(`  manifest    sha256 ${manifest_sha256}`);
  if (definition !== undefined) print(`  definition  sha256 ${definition}, as the server gave it`);
  if (previous !== undefined) print(`  replaced    the receipt of sha256 ${previous}`);
}

/** `--tier`: user or system. */
export function tierOf(args: Arguments): "system" | "user" {
  const tier = args.text("tier") ?? "system";
  if (tier === "system" || tier === "user") return tier;
  return fail("EINVAL", `tier ${JSON.stringify(tier)} is not "system" or "user"`, {
    hint: "user is your own home's tool folder, system is everybody's",
  });
}
