/**
 * Goal: what was once answered is read back, at every possible end of the file.
 * Method: write a file, cut it or spoil it by hand, and open it again.
 */
import * as assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import type { LedgerEvent } from "../../../../src/local/hedera/state/events.ts";
import { openLedgerFile } from "../../../../src/local/hedera/state/ledger-file.ts";
import { temporaryFolder } from "../../../support/folder.ts";
import { NODE_FLAGS, scriptOf } from "../../../support/script.ts";

const block = (at: bigint): LedgerEvent[] => [{ kind: "block", at }];
const pathOf = (folder: string): string => join(folder, "events.jsonl");

/** What a folder's file holds, turn by turn. */
async function replayed(folder: string): Promise<(readonly LedgerEvent[])[]> {
  const turns: (readonly LedgerEvent[])[] = [];
  const file = openLedgerFile(folder, (events) => void turns.push(events));
  await file.close();
  return turns;
}

async function folderWith(...turns: LedgerEvent[][]): Promise<string> {
  const folder = temporaryFolder("ledger-file");
  const file = openLedgerFile(folder, () => undefined);
  for (const turn of turns) file.append(turn);
  await file.close();
  return folder;
}

test("numbers beyond 2^53 and every kind of text come back as they were", async () => {
  const topic: LedgerEvent = {
    kind: "topic",
    at: 1_800_000_000_000_000_001n,
    num: 1001,
    deleted: false,
    memo: "123n \n \u2028 \0 ünï 🌟",
    adminKey: null,
    submitKey: "1220",
    feeScheduleKey: null,
    autoRenewAccount: null,
    autoRenewPeriod: 7_890_000,
    customFees: [{ amount: 5, collector: 1001, token: null }],
  };
  const folder = await folderWith([topic], block(2n ** 62n));
  assert.deepEqual(await replayed(folder), [[topic], block(2n ** 62n)]);
});

test("a last line that was cut short anywhere is dropped, and the next takes its place", async () => {
  const folder = await folderWith(block(1n), block(2n));
  const whole = readFileSync(pathOf(folder));
  const first = whole.indexOf(0x0a) + 1;
  for (let length = first; length < whole.length; length += 1) {
    writeFileSync(pathOf(folder), whole);
    truncateSync(pathOf(folder), length);
    assert.deepEqual(await replayed(folder), [block(1n)]);
    const file = openLedgerFile(folder, () => undefined);
    file.append(block(3n));
    await file.close();
    assert.deepEqual(await replayed(folder), [block(1n), block(3n)]);
  }
});

test("a last line of zeros, as a power cut leaves it, is dropped too", async () => {
  const folder = await folderWith(block(1n));
  writeFileSync(pathOf(folder), Buffer.alloc(64), { flag: "a" });
  assert.deepEqual(await replayed(folder), [block(1n)]);
});

test("an earlier line that cannot be read is an error that names it, and changes nothing", async () => {
  const folder = await folderWith(block(1n), block(2n));
  const spoiled = readFileSync(pathOf(folder), "utf8").replace("block", 'bl"ck');
  writeFileSync(pathOf(folder), spoiled);
  await assert.rejects(replayed(folder), /events\.jsonl is damaged: line 1 cannot be read$/);
  await assert.rejects(replayed(folder), /line 1/);
  assert.equal(readFileSync(pathOf(folder), "utf8"), spoiled);
});

test("a file that another process has open is refused; one that died leaves it free", async () => {
  const folder = await folderWith(block(1n));
  const module = scriptOf(
    join(import.meta.dirname, "../../../../src/local/hedera/state/ledger-file.ts"),
  );
  const script = `
    const { openLedgerFile } = await import(${JSON.stringify(module)});
    openLedgerFile(${JSON.stringify(folder)}, () => undefined).append([{ kind: "block", at: 2n }]);
    console.log("open");
    setInterval(() => undefined, 1_000);`;
  const child = spawn(process.execPath, [...NODE_FLAGS, "--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  await assert.rejects(replayed(folder), new RegExp(`is in use by process ${child.pid}$`));
  child.kill("SIGKILL");
  await once(child, "exit");
  assert.deepEqual(await replayed(folder), [block(1n), block(2n)]);
});

test.run();
