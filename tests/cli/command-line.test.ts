/** What `starboard` says before a command begins: help, version, and one line of what is wrong. */
import * as assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "uvu";
import { temporaryFolder } from "../support/folder.ts";
import { starboard } from "../support/starboard.ts";

/** In the project's folder commands act on an `npm start` that runs there. */
const FOLDER = temporaryFolder("no-start-");
const run = (...args: string[]) => starboard(args, {}, FOLDER);

async function refusal(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await run(...args);
  assert.equal(status, 1);
  assert.equal(stdout, "");
  assert.match(stderr, /^[^\n]+\n$/, "one line");
  return stderr.trimEnd();
}

test("--version prints the package's version, of every command", async () => {
  const { version } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  for (const args of [["--version"], ["keys", "issue", "--version"]]) {
    const { status, stdout } = await run(...args);
    assert.deepEqual([status, stdout], [0, `${version}\n`]);
    const { stdout: json } = await run(...args, "--json");
    assert.deepEqual(JSON.parse(json), { version });
  }
});

test("help names the command as it is called, without colours in a pipe", async () => {
  const { status, stdout } = await run("keys", "issue", "--help");
  assert.equal(status, 0);
  assert.match(stdout, /^USAGE starboard keys issue \[OPTIONS\] --name=<name>/m);
  assert.ok(!stdout.includes("\u001b"), stdout);
  assert.match((await run("--help")).stdout, /^USAGE starboard dev\|serve\|/m);
});

test("a bare and an unknown command say where the list is", async () => {
  assert.equal(await refusal(), "a command is needed: starboard --help lists them");
  assert.equal(await refusal("kyes"), "there is no command kyes: starboard --help lists them");
  assert.equal(await refusal("keys"), "a command is needed: starboard keys --help lists them");
  assert.match(await refusal("constructor"), /no command constructor/);
});

test("an unknown option is named, and a missing one too", async () => {
  assert.equal(await refusal("keys", "issue", "--nmae", "Ada"), "there is no option --nmae");
  const missing = await refusal("keys", "issue");
  assert.match(missing, /--name: see starboard keys issue --help$/);
  // What follows an option is its value.
  assert.doesNotMatch(await refusal("keys", "issue", "--name", "--x"), /no option/);
  const unread = ["journal", "accept-loss", "--reason"];
  assert.equal(await refusal(...unread, "--no-backup"), "DATABASE_URL is missing");
  assert.equal(await refusal(...unread, ""), "--reason is empty");
});

test("an option with one dash is refused, and so is a value where an option takes none", async () => {
  const one = (word: string) => `${word} has one dash: options begin with two`;
  assert.equal(await refusal("audit", "-rate=7"), one("-rate=7"));
  for (const name of ["serve", "work"]) assert.equal(await refusal(name, "-check"), one("-check"));
  const recover = (word: string) => refusal("journal", "recover", word);
  assert.equal(await recover("--accept=no"), "--accept takes no value");
  assert.equal(await recover("--dry-run="), "--dry-run takes no value");
  assert.equal(await recover("--no-mirror"), "there is no option --no-mirror");
});

test("an option given twice is refused by its name: one of the values would count for nothing", async () => {
  const issue = (...args: string[]) => refusal("keys", "issue", "--name", "Ada", ...args);
  for (const again of [["--name", "Bob"], ["--name=Ada"]])
    assert.equal(await issue(...again), "--name is given twice");
  // A flag says the same twice, and what follows an option is its value.
  assert.equal(await issue("--json", "--json"), "DATABASE_URL is missing");
  const accept = await refusal("journal", "accept-loss", "--reason", "--reason");
  assert.equal(accept, "DATABASE_URL is missing");
});

test("a word too many is named by the processes too, before they look at anything", async () => {
  for (const name of ["serve", "work", "dev"]) {
    const { status, stderr } = await starboard([name, "x", "y"], { PORT: "banana" });
    assert.deepEqual([status, stderr], [1, "x is one argument too many\n"], name);
  }
});

test("a negative number without `--` is refused with the right place for it", async () => {
  const said = await refusal("xp", "credit", "0.0.1001", "-1", "--reason", "r", "--id", "i");
  assert.match(said, /^-1 reads as an option: put a negative number last, as in `-- -1`$/);
});

test("a demo where `npm start` never ran says so, and asks for no setting", async () => {
  const { status, stderr } = await run("demo");
  assert.deepEqual([status, stderr], [1, "no demo wallets here: run `npm start` first\n"]);
});

test("a demo goes on to another item after a repeat, and ends where no star is accepted", async () => {
  let stars = 0;
  const server = createServer((request, response) => {
    const isStar = request.url === "/voting/stars";
    if (isStar) stars += 1;
    const [status, code] = stars === 1 ? [409, "ALREADY_STARRED"] : [503, "JOURNAL_BEHIND"];
    const reply = isStar ? { error: "", code } : { id: "", message: "", token: "t" };
    // Longer than the client waits: it does not ask again.
    const headers = { "content-type": "application/json", "retry-after": "61" };
    response.writeHead(isStar ? status : 201, headers);
    response.end(JSON.stringify(reply));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const wallet = { id: "0.0.1001", type: "ecdsa", key: "11".repeat(32) };
  const ids = {
    collectionA: "0.0.2",
    collectionB: "0.0.3",
    eventTopic: "0.0.4",
    assetTopic: "0.0.5",
  };
  const folder = temporaryFolder("started-");
  mkdirSync(join(folder, ".starboard"));
  const ledger = JSON.stringify({ operator: wallet, ...ids, wallets: [wallet] });
  writeFileSync(join(folder, ".starboard/ledger.json"), ledger);
  const words = ["demo", "--url", `http://127.0.0.1:${port}`];
  const { status, stderr } = await starboard(words, {}, folder);
  server.close();
  assert.equal(status, 1);
  assert.match(stderr, /the last answer was token\/0\.0\.700002: JOURNAL_BEHIND\n$/);
  assert.equal(stars, 2);
});

test("a closed output pipe is no crash: the command prints nothing more and exits with status 1", async () => {
  for (const args of [["--help"], ["keys", "issue", "--help"], ["--version"]]) {
    const { status, stderr } = await starboard(args, {}, undefined, { readsOutput: false });
    assert.deepEqual([status, stderr], [1, ""]);
  }
});

test.run();
