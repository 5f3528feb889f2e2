/**
 * Goal: a first start that is killed while it brings back the past days is made up for by the next
 * one. Method: a ledger with past stars, and a journal that takes no star of one of those days at
 * first: what came before it is stored, as with a kill at that moment.
 */
import * as assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import { DAY_MS, dayOf } from "../../actors/day.ts";
import { COLLECTION_SETTINGS, readSettings } from "../../src/config.ts";
import { fillDemo } from "../../src/demo/first-start.ts";
import { makePastLedger } from "../../src/demo/past-ledger.ts";
import { settleDemoLedger } from "../../src/local/demo-ledger.ts";
import { startLocalHedera } from "../../src/local/hedera/start.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { temporaryFolder } from "../support/folder.ts";
import { testDatabase } from "../support/postgres.ts";

const KEYS = { a: "alpha", b: "beta" } as const;

test("a first start that is killed amid the past days leaves none out: the next one brings the rest", async () => {
  const clock = { now: () => Date.now() };
  const kept = temporaryFolder("first-start");
  const [folder, file] = [join(kept, "ledger"), join(kept, "ledger.json")];
  await makePastLedger({ folder, file, keys: KEYS, now: clock.now() });
  const hedera = await startLocalHedera({ ...clock, folder });
  const database = await testDatabase({ migrated: true });
  const sql = openPostgres(database.url, { connections: 2 });
  const demo = await settleDemoLedger(hedera.ledger, file);
  const settings = readSettings(
    {
      MIRROR_NODE_URL: hedera.mirrorUrl,
      EVENT_VOTES_TOPIC_ID: demo.eventTopic,
      ASSET_VOTES_TOPIC_ID: demo.assetTopic,
      COLLECTION_A_ID: demo.collectionA,
      COLLECTION_A_KEY: KEYS.a,
      COLLECTION_B_ID: demo.collectionB,
      COLLECTION_B_KEY: KEYS.b,
      LOG_LEVEL: "error",
    },
    ["MIRROR_NODE_URL", ...COLLECTION_SETTINGS],
  );
  const start = () => fillDemo({ sql, settings, clock }, { demo, ledger: hedera.ledger });
  const countStars = async () =>
    (await database.sql<[{ stars: number }]>`select count(*)::integer as stars from star`)[0].stars;
  const said = [...hedera.ledger.order.state.topics.values()].flatMap(({ messages }) => messages);
  try {
    await database.sql.unsafe(`
      create function refuse() returns trigger language plpgsql as $$
        begin raise exception 'killed'; end $$;
      create trigger refuse before insert on star for each row
        when (new.day = '${dayOf(clock.now() - 3 * DAY_MS)}') execute function refuse()`);
    await assert.rejects(start(), /killed/);
    const before = await countStars();
    assert.ok(before > 0 && before < said.length, `${before} of ${said.length}`);
    await database.sql`drop trigger refuse on star`;
    await start();
    assert.equal(await countStars(), said.length);
  } finally {
    await sql.end({ timeout: 1 });
    await database.close();
    await hedera.close();
    rmSync(kept, { recursive: true });
  }
});

test.run();
