/** Commands beside a running `npm start` need no setup; given settings always win. */
import * as assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import { readCommandSettings } from "../../src/cli/settings.ts";
import { environment } from "../../src/config.ts";

const OWN = {
  DATABASE_URL: "postgres://own@127.0.0.1:5/starboard",
  EVENT_SOURCES: "ONE,TWO",
  PORT: "4000",
  FOREIGN: "ignored",
};
const NAMES = ["DATABASE_URL", "EVENT_SOURCES", "PORT", "HEDERA_NETWORK"];

let folder: string;
test.before.each(() => {
  folder = mkdtempSync(join(tmpdir(), "starboard-settings-"));
  for (const name of NAMES) delete process.env[name];
});
test.after.each(() => rmSync(folder, { recursive: true }));

function announce(content: string): void {
  mkdirSync(join(folder, ".starboard"));
  writeFileSync(join(folder, ".starboard", "environment.json"), content);
}

test("an unset setting comes from the running `npm start`", () => {
  announce(JSON.stringify(OWN));
  const settings = readCommandSettings(["DATABASE_URL"], folder);
  assert.equal(settings.DATABASE_URL, OWN.DATABASE_URL);
  assert.deepEqual(settings.EVENT_SOURCES, ["ONE", "TWO"]);
  assert.equal(settings.PORT, 4_000);
});

test("a given setting wins over it, and an empty variable counts as unset", () => {
  announce(JSON.stringify(OWN));
  process.env.PORT = "5000";
  process.env.DATABASE_URL = " ";
  const settings = readCommandSettings(["DATABASE_URL"], folder);
  assert.equal(settings.PORT, 5_000);
  assert.equal(settings.DATABASE_URL, OWN.DATABASE_URL);
});

test("where all that is needed is set, another process's settings are left alone", () => {
  announce(JSON.stringify(OWN));
  process.env.DATABASE_URL = "postgres://given@127.0.0.1:6/other";
  const settings = readCommandSettings(["DATABASE_URL"], folder);
  assert.equal(settings.DATABASE_URL, "postgres://given@127.0.0.1:6/other");
  assert.equal(settings.EVENT_SOURCES, undefined);
});

test("no setting comes from one of another network", () => {
  announce(JSON.stringify(OWN));
  process.env.HEDERA_NETWORK = "mainnet";
  assert.throws(() => readCommandSettings(["DATABASE_URL"], folder), /DATABASE_URL is missing/);
});

test("beside an `npm start` of a public network commands find it, whether they name the network or not", () => {
  announce(JSON.stringify({ ...OWN, HEDERA_NETWORK: "testnet" }));
  for (const named of ["", "testnet"]) {
    process.env.HEDERA_NETWORK = named;
    const settings = readCommandSettings(["DATABASE_URL"], folder);
    assert.deepEqual(
      [settings.DATABASE_URL, settings.HEDERA_NETWORK],
      [OWN.DATABASE_URL, "testnet"],
    );
  }
});

test("where its file is missing or damaged, the message says what is wrong", () => {
  assert.throws(() => readCommandSettings(["DATABASE_URL"], folder), /DATABASE_URL is missing/);
  announce("{");
  assert.throws(
    () => readCommandSettings(["DATABASE_URL"], folder),
    /environment\.json cannot be read/,
  );
});

test("an .env that cannot be read ends the command: it would go on without its settings", () => {
  // Root may read any file, but nothing reads a process's memory from its first byte.
  const unreadable = "/proc/self/mem";
  if (!existsSync(unreadable)) return;
  const back = process.cwd();
  process.chdir(folder);
  try {
    symlinkSync(unreadable, ".env");
    assert.throws(
      () => readCommandSettings(["DATABASE_URL"], folder),
      /^ConfigurationError: \.env is there and cannot be read$/,
    );
    rmSync(".env");
    // A folder of that name holds no settings.
    mkdirSync(".env");
    assert.throws(() => readCommandSettings(["DATABASE_URL"], folder), /DATABASE_URL is missing/);
  } finally {
    process.chdir(back);
  }
});

test("a working folder that this user may not look into leaves the environment alone", () => {
  const closed = mkdtempSync(join(tmpdir(), "starboard-closed-"));
  const [back, isRoot] = [process.cwd(), process.getuid?.() === 0];
  process.chdir(closed);
  chmodSync(closed, 0);
  try {
    // Root may look into any folder.
    if (isRoot) process.seteuid?.(65_534);
    assert.equal(environment(), process.env);
  } finally {
    if (isRoot) process.seteuid?.(0);
    process.chdir(back);
    rmSync(closed, { recursive: true });
  }
});

test.run();
