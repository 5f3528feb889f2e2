import * as assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import { findPostgres, preparePostgres } from "../../src/local/native-postgres.ts";
import { serverUser } from "../../src/local/server-user.ts";
import { temporaryFolder } from "../support/folder.ts";

// The folders made here are open, but for those that a test closes.
process.umask(0o022);
const folder = temporaryFolder("native-postgres");
const user = serverUser(folder);
const installed = findPostgres();

test.after(() => {
  chmodSync(join(folder, "closed"), 0o700);
  rmSync(folder, { recursive: true, force: true });
});

/** As an install leaves it that runs no scripts: without the links between libraries. */
function installWithoutScripts(name: string): string {
  const native = join(folder, name, "native");
  cpSync(installed.native, native, { recursive: true, verbatimSymlinks: true });
  const library = join(native, "lib");
  for (const file of readdirSync(library)) {
    if (lstatSync(join(library, file)).isSymbolicLink()) rmSync(join(library, file));
  }
  return native;
}

function versionOf(program: string): string {
  return spawnSync(program, ["--version"], { cwd: "/", encoding: "utf8", ...user }).stdout;
}

test("links between libraries that an install without scripts left out are made", () => {
  const native = installWithoutScripts("unlinked");
  assert.equal(versionOf(join(native, "bin", "initdb")), "");
  const { initdb } = preparePostgres({ native, version: "18" }, user, folder);
  assert.equal(initdb, join(native, "bin", "initdb"));
  assert.match(versionOf(initdb), /^initdb \(PostgreSQL\) 18/);
});

test("a program that cannot run where npm put it runs from a copy", () => {
  const native = installWithoutScripts("closed");
  // For root a home that Postgres' user cannot enter, for others programs that may not run.
  chmodSync(join(native, "bin", "postgres"), 0o600);
  chmodSync(join(folder, "closed"), 0o700);
  const place = join(folder, "place");
  mkdirSync(place);
  const programs = preparePostgres({ native, version: "18" }, user, place);
  assert.equal(programs.postgres, join(place, "postgres-18", "native", "bin", "postgres"));
  assert.match(versionOf(programs.postgres), /^postgres \(PostgreSQL\) 18/);
  assert.match(versionOf(programs.initdb), /^initdb \(PostgreSQL\) 18/);
  assert.deepEqual(preparePostgres({ native, version: "18" }, user, place), programs);
});

test("a copy that cannot be opened to every user is an error, and is not taken for whole", () => {
  const native = join(folder, "closed", "native");
  const place = join(folder, "unopened");
  mkdirSync(place);
  const { PATH } = process.env;
  // Without `chmod`.
  process.env.PATH = place;
  try {
    const prepare = () => preparePostgres({ native, version: "18" }, user, place);
    assert.throws(prepare, /cannot open .* to every user/);
  } finally {
    process.env.PATH = PATH;
  }
  assert.deepEqual(readdirSync(place), ["postgres-18.new"]);
});

test("a program that cannot run at all is reported with the way out", () => {
  const native = join(folder, "broken", "native");
  mkdirSync(join(native, "bin"), { recursive: true });
  writeFileSync(join(native, "bin", "postgres"), "no program");
  assert.throws(() => preparePostgres({ native, version: "0" }, user, folder), /set DATABASE_URL/);
});

test.run();
