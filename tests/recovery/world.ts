import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DAY_MS, type Day, dayOf, startOfDay } from "../../actors/day.ts";
import { runAudit } from "../../src/audit/audit.ts";
import { openAuditMirror } from "../../src/audit/audit-mirror.ts";
import type { Conclusion } from "../../src/audit/conclude.ts";
import { type ExportSource, openExportSource } from "../../src/audit/export-source.ts";
import { followClock } from "../../src/clock.ts";
import { findExport, headerOf } from "../../src/journal/export-days.ts";
import type { ExportSettings } from "../../src/journal/export-settings.ts";
import { writeExport } from "../../src/journal/write-export.ts";
import { MirrorClient } from "../../src/ledger/mirror/node.ts";
import { silentLogger } from "../../src/log.ts";
import { createLedgerClock } from "../../src/publishing/ledger-clock.ts";
import type { Recovery } from "../../src/recovery/recovery.ts";
import { openPostgres, readDatabaseClock, type Sql } from "../../src/store/postgres.ts";
import { finalizeDueDays } from "../../src/upkeep/finalize-exports.ts";
import { createHoldingsCheck } from "../../src/upkeep/holdings-check/check.ts";
import { openPublisher } from "../publishing/live.ts";
import { seedDirectory, startEngine, verdictOf } from "../support/engine.ts";
import { temporaryFolder } from "../support/folder.ts";
import { type Network, startNetwork } from "../support/network.ts";
import { testDatabase } from "../support/postgres.ts";
import { until } from "../support/processes.ts";

/** The service's own past: some days of stars, cast by the real engine and published. */
export interface LostWorld {
  readonly network: Network;
  readonly settings: Recovery["settings"];
  readonly wallets: readonly string[];
  /** The days, oldest first; the last is today's. */
  readonly days: readonly Day[];
  /** By an engine of its own, on any database of the world. */
  cast(databaseUrl: string, stars: readonly Cast[]): Promise<void>;
  publish(databaseUrl: string): Promise<void>;
  /** Sets the clocks of ledger and database to an instant of a day, counted from 0. */
  goTo(sql: Sql, day: number, ms: number): Promise<void>;
  /** The serials that a wallet holds, ascending. */
  heldBy(wallet: string): { readonly A: readonly number[]; readonly B: readonly number[] };
  transfer(collection: "A" | "B", serial: number, to: string): Promise<void>;
  check(sql: Sql): Promise<void>;
  finalize(sql: Sql): Promise<void>;
  /** Writes the exports of all days into a folder of their own, as `GET /exports/{day}` gives them. */
  keepExports(sql: Sql): Promise<ExportSource & { readonly folder: string }>;
  /** What an outsider says who has the mirror node and all exports of a database. */
  audit(sql: Sql): Promise<Conclusion>;
  /** A fresh database with the catalogue, seasons and passes of another. */
  freshDatabase(): Promise<{ readonly url: string; readonly sql: Sql; close(): Promise<void> }>;
  recovery(sql: Sql, change?: Partial<Recovery>): Recovery;
  /** The mirror node as it was when each topic had so many messages. */
  mirrorUpTo(messages: number): Recovery["mirror"];
  close(): Promise<void>;
}

export interface Cast {
  readonly wallet: string;
  readonly target: string;
}

const SEASON = "5d2f0f5e-0000-7000-8000-000000000001";
const HELD = [
  { a: 0, b: 0 },
  { a: 1, b: 0 },
  { a: 0, b: 1 },
  { a: 3, b: 2 },
] as const;

/** Starts a network some days ago, with wallets that hold NFTs; the first has a pass. */
export async function openLostWorld({
  wallets: count = 24,
  days: length = 3,
} = {}): Promise<LostWorld> {
  const first = startOfDay(dayOf(Date.now())) - (length - 1) * DAY_MS;
  const time = { offset: first - DAY_MS - Date.now() };
  const now = (): number => Date.now() + time.offset;
  const network = await startNetwork({ now });
  const { ledger } = network.hedera;
  const wallets: string[] = [];
  const held = new Map<string, { A: number[]; B: number[] }>();
  for (let i = 0; i < count; i += 1) {
    const id = await ledger.createAccount({ key: null });
    const { a, b } = HELD[i % HELD.length] as (typeof HELD)[number];
    const A = a > 0 ? await ledger.mint(network.collectionA, { count: a, to: id }) : [];
    const B = b > 0 ? await ledger.mint(network.collectionB, { count: b, to: id }) : [];
    wallets.push(id);
    held.set(id, { A: [...A], B: [...B] });
  }
  const settings = {
    network: "local",
    topics: network.topics,
    collections: {
      a: { id: network.collectionA, key: "alpha" },
      b: { id: network.collectionB, key: "beta" },
    },
    excludedWallets: [],
    xpPerStar: 1,
  } satisfies ExportSettings;
  const dayNames = Array.from({ length }, (_, index) => dayOf(first + index * DAY_MS));
  const prepare = async (sql: Sql): Promise<void> => {
    for (const day of dayNames) await sql`select ensure_star_partition(${day})`;
    await sql`insert into season (id, name, starts_at, ends_at)
      values (${SEASON}, 'One', ${first - DAY_MS}, ${first + 30 * DAY_MS})`;
    await sql`insert into premium_pass (wallet, season_id, granted_at)
      values (${Number(wallets[0]?.split(".")[2])}, ${SEASON}, ${first - DAY_MS})`;
  };
  await prepare(network.sql);
  const mirror = openAuditMirror({
    urls: [network.hedera.mirrorUrl],
    log: silentLogger,
    requestsPerSecond: Number.POSITIVE_INFINITY,
  });
  const setNow = (sql: Sql) =>
    sql.unsafe(`
      create or replace function now_ms() returns bigint language sql volatile as $$
        select ${time.offset} + floor(extract(epoch from clock_timestamp()) * 1000)::bigint $$`);
  const opened: { close(): Promise<void> }[] = [];
  const keepExports: LostWorld["keepExports"] = async (sql) => {
    const folder = temporaryFolder("exports");
    mkdirSync(folder, { recursive: true });
    opened.push({ close: async () => rmSync(folder, { recursive: true, force: true }) });
    for (const day of dayNames) {
      const { final } = await findExport(sql, day);
      let text = "";
      const header = final?.header ?? headerOf(day, settings, null);
      for await (const part of writeExport(sql, header, final?.sha256)) text += part;
      writeFileSync(join(folder, `${day}.ndjson`), text);
    }
    return { folder, ...openExportSource(folder) };
  };
  return {
    network,
    settings,
    wallets,
    days: dayNames,
    async goTo(sql, day, ms) {
      const to = first + day * DAY_MS + ms;
      if (to > now()) time.offset = to - Date.now();
      await ledger.closeBlock();
      await setNow(sql);
    },
    async cast(databaseUrl, stars) {
      const engine = await startEngine(databaseUrl);
      for (const [wallet, { A, B }] of held) {
        engine.holdings.set(wallet, { collectionA: A, collectionB: B });
      }
      try {
        for (const { wallet, target } of stars) {
          const verdict = verdictOf(await engine.cast(wallet, target));
          if (verdict !== "accepted") throw new Error(`${wallet} ${target}: ${verdict}`);
        }
      } finally {
        await engine.close();
      }
    },
    async publish(databaseUrl) {
      const { settings: own, hedera } = network;
      const place = {
        databaseUrl,
        mirrorUrl: hedera.mirrorUrl,
        nodes: hedera.nodes.map(({ address, account }) => ({ address, account })),
        operatorId: own.HEDERA_OPERATOR_ID ?? "",
        operatorKey: own.HEDERA_OPERATOR_KEY ?? "",
        topics: network.topics,
        leaseMs: 2_000,
      };
      const clock = createLedgerClock(() => BigInt(now()) * 1_000_000n);
      const publisher = await openPublisher(place, { clock, sweepEveryMs: 200 });
      const sql = openPostgres(databaseUrl);
      try {
        await until(
          "all stars are published",
          async () => {
            const [row] = await sql`select count(*) as left from outbox where state <> 'published'`;
            return Number(row?.left) === 0;
          },
          60_000,
        );
      } finally {
        await sql.end({ timeout: 1 });
        await publisher.close();
      }
    },
    heldBy(wallet) {
      const { A = [], B = [] } = held.get(wallet) ?? {};
      return { A: [...A], B: [...B] };
    },
    async transfer(collection, serial, to) {
      const id = collection === "A" ? network.collectionA : network.collectionB;
      await ledger.transfer(id, serial, to);
      for (const serials of held.values()) {
        const at = serials[collection].indexOf(serial);
        if (at !== -1) serials[collection].splice(at, 1);
      }
      held.get(to)?.[collection].push(serial);
      held.get(to)?.[collection].sort((one, other) => one - other);
      await ledger.closeBlock();
    },
    async check(sql) {
      const clock = await followClock(
        () => readDatabaseClock(sql),
        () => undefined,
      );
      const node = new MirrorClient({ urls: [network.hedera.mirrorUrl], log: silentLogger });
      const collections = { A: network.collectionA, B: network.collectionB };
      await createHoldingsCheck({
        sql,
        mirror: node,
        clock,
        log: silentLogger,
        collections,
      }).runNow();
      clock.stop();
      await node.close();
    },
    async finalize(sql) {
      await finalizeDueDays({ sql, log: silentLogger, settings });
    },
    keepExports,
    async audit(sql) {
      const source = await keepExports(sql);
      const { topics, collections, excludedWallets } = settings;
      return runAudit({
        mirror,
        topics: { event: [topics.event], asset: [topics.asset] },
        collections: { a: collections.a.id, b: collections.b.id },
        keys: { a: collections.a.key, b: collections.b.key },
        excluded: excludedWallets,
        day: null,
        exports: { source, days: await source.days() },
        api: null,
        lateMs: DAY_MS,
        settleMs: 0,
        stateFile: null,
        now,
        onProgress: () => undefined,
      });
    },
    async freshDatabase() {
      const database = await testDatabase({ migrated: true });
      const sql = openPostgres(database.url);
      await seedDirectory(sql);
      await prepare(sql);
      await setNow(sql);
      const close = async (): Promise<void> => {
        await sql.end({ timeout: 1 });
        await database.close();
      };
      opened.push({ close });
      return { url: database.url, sql, close };
    },
    mirrorUpTo: (messages) => ({
      ...mirror,
      async topicMessages(topic, from) {
        const asked = from.newestFirst ? { afterSequence: messages - 1, limit: 1 } : from;
        const page = await mirror.topicMessages(topic, asked);
        const seen = page.messages.filter(({ sequenceNumber }) => sequenceNumber <= messages);
        return { messages: seen, more: page.more && seen.length === page.messages.length };
      },
    }),
    recovery: (sql, change = {}) => ({
      sql,
      mirror,
      settings,
      exports: null,
      piece: 20,
      isDryRun: false,
      accepts: false,
      onProgress: () => undefined,
      ...change,
    }),
    async close() {
      for (const each of opened) await each.close();
      await mirror.close();
      await network.close();
    },
  };
}

/** Everything a recovery must bring back, table by table, as text; numbers drawn by sequences only with exports. */
export async function stateOf(sql: Sql, { numbers }: { numbers: boolean }) {
  const lines = async (query: Promise<readonly { line: string }[]>) =>
    (await query).map(({ line }) => line);
  const without = numbers ? [] : ["seq", "holdings_read_at"];
  return {
    stars: await lines(
      sql`select (to_jsonb(star) - ${without}::text[])::text as line from star order by day, wallet, slot`,
    ),
    claims: await lines(
      sql`select concat_ws(' ', event_id, day, collection, serial, wallet, star_id,
        case when released_at is not null then 'released' end,
        case when anchored_at is not null then 'anchored' end) as line
        from serial_claim order by event_id, day, collection, serial, star_id`,
    ),
    // Without the version of the claims, which also counts the stars that a recovery took out.
    events: await lines(
      sql`select concat_ws(' ', event_id, weight, stars) as line from event_total order by 1`,
    ),
    days: await lines(sql`select item_day::text as line from item_day order by 1`),
    hours: await lines(sql`select item_hour::text as line from item_hour order by 1`),
    scores: await lines(sql`select season_score::text as line from season_score order by 1`),
    mints: await lines(
      sql`select event_id || ' ' || star_id || ' ' || case when ${numbers} then seq else 0 end as line
        from mint_star order by event_id, seq`,
    ),
    releases: await lines(sql`select claim_release::text as line from claim_release order by 1`),
    receipts: await lines(
      sql`select concat_ws(' ', star_id, topic, state, topic_id, transaction_id, sequence_number,
        consensus_timestamp, running_hash, message) as line from outbox order by star_id`,
    ),
    final: await lines(
      sql`select day || ' ' || sha256 || ' ' || chain as line from export_day order by day`,
    ),
  };
}
