// What `ctx agent check` prints for a person.

import { print } from "../../internal/cli/mod.ts";
import type { CheckReport, MountReport } from "./agent-check.ts";
import type { ControlFinding } from "./agent-controls.ts";
import { printMissing } from "./agent-grants.ts";

/** Characters of one control's value. Past it the rest is an ellipsis. */
const valueCharsMax = 100;

export function printReport(report: CheckReport): void {
  const { agent, ready, faults, kind } = report;
  print(`agent ${agent}: ${ready ? "can run, with every tool that it lists" : "not ready"}`);
  for (const fault of faults) print(`  ${fault}`);
  print("\ncontrols");
  for (const finding of report.controls) {
    print(`  ${finding.control.padEnd(19)} ${shownValue(finding)}`);
  }
  if (kind === undefined) return;
  print("\nwhat it is");
  print(
    `  ${kind === "model" ? "a model agent, its loop is in ctxd" : "a program that speaks sdk-envelope-v1"}`,
  );
  if (report.identity) {
    const { allowed, because } = report.identity;
    print(`  ${allowed ? "can be launched" : "cannot be launched"}: ${because}`);
  }
  print("\nwhat it may do");
  printAuthority(report);
  if (report.missing.length === 0) return;
  print("\nmissing for all that it names");
  printMissing(report.missing);
}

function printAuthority(report: CheckReport): void {
  const { perm, approval, network } = report;
  if (perm) print(`  perm: ${permText(perm)}`);
  const asks = approval === "ask";
  print(`  approval: ${asks ? "a person is asked before each call" : "calls are not asked about"}`);
  for (const { tool, allowed, listed, layer, because } of report.tools) {
    const how = listed ? "" : ", through tsh";
    print(`  tool ${tool}: ${allowed ? `allowed${how}` : `refused by ${layer}, ${because}`}`);
  }
  for (const { model, usable, because } of report.models) {
    print(`  model ${model}: ${usable ? "usable" : because}`);
  }
  print(`  network: ${network ? "yes" : "none"}`);
  for (const mount of report.mounts) print(`  mount ${mountText(mount)}`);
}

function permText(perm: NonNullable<CheckReport["perm"]>): string {
  const can = (allowed: boolean, what: string) => `${allowed ? "may" : "may not"} ${what}`;
  return [
    can(perm.read, "read files"),
    can(perm.write, "write files"),
    can(perm.execute, "run commands"),
  ].join(", ");
}

const foundTexts: Readonly<Record<MountReport["found"], string>> = {
  folder: "a folder",
  file: "a file",
  other: "neither a file nor a folder",
  missing: "does not exist",
  unknown: "cannot be looked at by this user",
};

function mountText({ source, target, access, found }: MountReport): string {
  return `${source} as ${target}, ${access === "rw" ? "writable" : "read-only"}: ${foundTexts[found]}`;
}

/** Whole texts are counted, not shown, and so are values that may be somebody's secret. */
const countedControls = ["system.md", "prompt.template.md", "env", "log", "meta.json"];

function shownValue({ control, state, text = "", fault }: ControlFinding): string {
  if (state === "absent") return "(absent)";
  if (fault !== undefined) return fault;
  const lines = text.split("\n").filter((line) => line !== "");
  if (lines.length === 0) return "(empty)";
  if (countedControls.includes(control))
    return `${lines.length} ${lines.length === 1 ? "line" : "lines"}`;
  const said = control === "policy" ? lines.filter((line) => !line.startsWith("#")) : lines;
  const value = said.join(", ").replaceAll("\t", " ");
  return value.length <= valueCharsMax ? value : `${value.slice(0, valueCharsMax)}…`;
}
