import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { CodedError } from "../abi/mod.ts";
import { readSecret, removeSecret, secretBytesMax, writeSecret } from "./mod.ts";

const uid = process.getuid?.() ?? 0;
let base = "";
let places = { secrets: "", uid };

beforeEach(() => {
  base = mkdtempSync("/tmp/cortexfs-secret-");
  places = { secrets: join(base, "var/secrets"), uid };
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function refusal(work: () => unknown): CodedError {
  try {
    work();
  } catch (error) {
    if (error instanceof CodedError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

const file = () => join(places.secrets, "provider/acme/default");

describe("the secret store", () => {
  test("gives back what was stored, and undefined for what was not", () => {
    expect(readSecret(places, "acme")).toBeUndefined();
    writeSecret(places, "acme", "key-1\n");
    writeSecret(places, "acme", "key-2", "spare");
    expect(readSecret(places, "acme")).toBe("key-1");
    expect(readSecret(places, "acme", "spare")).toBe("key-2");
    expect(readSecret(places, "other")).toBeUndefined();
  });

  test("keeps folders at 0700 and files at 0600 whatever the umask is", () => {
    const before = process.umask(0);
    try {
      writeSecret(places, "acme", "key");
    } finally {
      process.umask(before);
    }
    const modes = ["", "provider", "provider/acme", "provider/acme/default"].map(
      (path) => lstatSync(join(places.secrets, path)).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o700, 0o700, 0o600]);
    expect(lstatSync(join(base, "var")).mode & 0o777).toBe(0o755);
  });

  test("strips one trailing newline, LF or CRLF, and no more", () => {
    writeSecret(places, "acme", "key");
    writeFileSync(file(), "key\r\n");
    expect(readSecret(places, "acme")).toBe("key");
    writeFileSync(file(), "key\n\n");
    expect(readSecret(places, "acme")).toBe("key\n");
  });

  test("replaces atomically and leaves no temporary file", () => {
    writeSecret(places, "acme", "old");
    writeSecret(places, "acme", "new");
    expect(readSecret(places, "acme")).toBe("new");
    expect(readdirSync(join(places.secrets, "provider/acme"))).toEqual(["default"]);
  });

  test("removes, and says whether there was something", () => {
    writeSecret(places, "acme", "key");
    expect(removeSecret(places, "acme")).toBe(true);
    expect(removeSecret(places, "acme")).toBe(false);
    expect(readSecret(places, "acme")).toBeUndefined();
  });
});

describe("the secret store refuses", () => {
  beforeEach(() => writeSecret(places, "acme", "sesame-opens"));

  for (const path of [".", "provider", "provider/acme"]) {
    test(`a folder that others may enter: ${path}`, () => {
      chmodSync(join(places.secrets, path), 0o750);
      const error = refusal(() => readSecret(places, "acme"));
      expect(error.code).toBe("EACCES");
      expect(error.message).toContain("mode 0750");
      expect(error.hint).toContain("chmod 0700");
      expect(refusal(() => writeSecret(places, "acme", "x")).code).toBe("EACCES");
      expect(refusal(() => removeSecret(places, "acme")).code).toBe("EACCES");
    });
  }

  test("a file that others may read", () => {
    chmodSync(file(), 0o640);
    const error = refusal(() => readSecret(places, "acme"));
    expect([error.code, error.message.includes("mode 0640")]).toEqual(["EACCES", true]);
    expect(refusal(() => writeSecret(places, "acme", "x")).code).toBe("EACCES");
    expect(readFileSync(file(), "utf8")).toBe("sesame-opens\n");
  });

  test("a symlink in the place of the file or of a folder", () => {
    writeFileSync(join(base, "loot"), "loot", { mode: 0o600 });
    rmSync(file());
    symlinkSync(join(base, "loot"), file());
    expect(refusal(() => readSecret(places, "acme")).code).toBe("EACCES");
    expect(refusal(() => writeSecret(places, "acme", "x")).code).toBe("EACCES");
    expect(readFileSync(join(base, "loot"), "utf8")).toBe("loot");

    mkdirSync(join(base, "elsewhere"), { mode: 0o700 });
    symlinkSync(join(base, "elsewhere"), join(places.secrets, "provider/linked"));
    expect(refusal(() => writeSecret(places, "linked", "x")).code).toBe("EACCES");
    expect(readdirSync(join(base, "elsewhere"))).toEqual([]);
  });

  test("a folder in the place of the file", () => {
    rmSync(file());
    mkdirSync(file(), { mode: 0o700 });
    expect(refusal(() => readSecret(places, "acme")).code).toBe("EACCES");
  });

  test("another owner of the file or of a folder", () => {
    if (uid !== 0) return console.log("SKIP another owner: chown needs root");
    chownSync(file(), 61184, 61184);
    expect(refusal(() => readSecret(places, "acme")).message).toContain("belongs to uid 61184");
    chownSync(file(), 0, 0);
    chownSync(join(places.secrets, "provider"), 61184, 61184);
    expect(refusal(() => readSecret(places, "acme")).code).toBe("EACCES");
  });

  test("a write for another uid", () => {
    const other = { ...places, uid: uid + 1 };
    expect(refusal(() => writeSecret(other, "acme", "x")).code).toBe("EACCES");
    expect(readFileSync(file(), "utf8")).toBe("sesame-opens\n");
  });

  test("a secret past its bound, and takes one at it", () => {
    writeSecret(places, "acme", "k".repeat(secretBytesMax));
    expect(readSecret(places, "acme")?.length).toBe(secretBytesMax);
    expect(refusal(() => writeSecret(places, "acme", "k".repeat(secretBytesMax + 1))).code).toBe(
      "EMSGSIZE",
    );
    truncateSync(file(), secretBytesMax + 100);
    expect(refusal(() => readSecret(places, "acme")).code).toBe("EMSGSIZE");
  });

  test("an empty one, a NUL and bytes that are not text, without repeating them", () => {
    for (const value of ["", "\n", "sesame\0x"]) {
      expect(refusal(() => writeSecret(places, "acme", value)).code).toBe("EINVAL");
    }
    writeFileSync(file(), new Uint8Array([0x73, 0xff, 0xfe]));
    const error = refusal(() => readSecret(places, "acme"));
    expect(error.code).toBe("EINVAL");
    expect(JSON.stringify([error.message, error.hint])).not.toContain("sesame");
  });

  test("names that could leave the store", () => {
    for (const name of ["", "..", "a/b", "a\0", ".hidden", "a.sock", "x".repeat(65)]) {
      expect(refusal(() => readSecret(places, name)).code).toBe("EINVAL");
      expect(refusal(() => writeSecret(places, "acme", "x", name)).code).toBe("EINVAL");
    }
  });
});
