import { createClient } from "redis";
import { silentLogger } from "../../src/log.ts";
import type { Sql } from "../../src/store/postgres.ts";
import { openRewardsQueue } from "../../src/upkeep/rewards-queue.ts";

/** How many of each kind of row the pages beside the journal list. */
export interface BooksSize {
  /** Records of the directory, half of them waiting for an approval. */
  readonly records: number;
  /** Each of: lines of the operator log, passes, credits. */
  readonly lines: number;
  /** Each of: API keys, findings, holdings checks. */
  readonly entries: number;
  /** Attributions that one check ended. */
  readonly releases: number;
  /** Jobs of a queue, refusals of the trail. */
  readonly jobs: number;
}

/** What stands in Redis under keys of its own; see `src/journal/refusal-trail.ts` and `src/upkeep/holdings-check/by-hand.ts`. */
const REFUSALS = "starboard:refusals";
const DRY_STAR = "01a1f8c0-0000-7000-8000-000000000001";
const DRY_RUN = "starboard:console:holdings-dry-run";
const DRY_MINTS = 20;
const DRY_LISTED = 100;
const OFFERED_AT_ONCE = 500;
const CURRENT_SEASON = "01a1f8c0-0000-7000-8000-0000000000aa";

/** Rows for every list of the console but the journal's; before the journal, whose stars a season would fold. */
export async function seedBooks(sql: Sql, size: BooksSize): Promise<void> {
  await seedCatalogue(sql, size.records);
  await sql`
    insert into season (id, name, starts_at, ends_at)
    select gen_random_uuid(), 'Season ' || n, n * 7776000000::bigint, (n + 1) * 7776000000::bigint
    from generate_series(1, 40) n
    union all select ${CURRENT_SEASON}, 'This one', now_ms() - 1000, now_ms() + 7776000000`;
  const { lines, entries } = size;
  await sql`
    insert into premium_pass (wallet, season_id, granted_at)
    select 500000 + n, ${CURRENT_SEASON}, 0 from generate_series(1, ${lines}::int) n`;
  await sql`
    insert into xp_credit (key, wallet, points, reason, at)
    select 'quest/' || n, 500000 + n, 10, 'Quest ' || n, now_ms() - n from generate_series(1, ${lines}::int) n`;
  await sql`
    insert into operator_log (action_id, phase, at, operator, session_id, action, subject, notice)
    select gen_random_uuid(), 'done', n, 'Ada', gen_random_uuid(), 'catalogue.approve', 'event/e' || n,
      'e' || n || ' is shown and can be starred now.' from generate_series(1, ${lines}::int) n`;
  await sql`
    insert into api_key (id, name, prefix, hash, created_at, last_used_at, revoked_at)
    select gen_random_uuid(), 'Consumer ' || n, 'sb_' || n, decode(md5(n::text) || md5('x' || n), 'hex'), n,
      now_ms(), case when n % 5 = 0 then now_ms() end from generate_series(1, ${entries}::int) n`;
  await sql`
    insert into publishing_finding (kind, topic_id, sequence_number, detail, noticed_at, resolved_at)
    select 'foreign', '0.0.5', n, 'transaction 0.0.777@1790000000.' || n, 0, case when n % 2 = 0 then 1 end
    from generate_series(1, ${entries}::int) n`;
  await sql`
    insert into publishing_alarm (worker, reason, subject, detail, raised_at, seen_at)
    select gen_random_uuid(), 'configuration', '0.0.' || n, 'INSUFFICIENT_PAYER_BALANCE', now_ms(),
      now_ms() + 86400000 from generate_series(1, 20) n`;
  await seedChecks(sql, size);
  await seedReports(sql);
}

async function seedCatalogue(sql: Sql, records: number): Promise<void> {
  const each = Math.floor(records / 4);
  const approved = sql`case when n % 2 = 0 then 0 end`;
  await sql`
    insert into event (id, title, event_type, source, starts_at, ends_at, host, location, url, created_at, approved_at)
    select 'waiting-' || n, 'Gathering ' || n, 'OTHER', 'SOURCE_A', 0, 1, 'Builders', 'Lisbon',
      'https://example.org/' || n, 0, ${approved} from generate_series(1, ${each}::int) n`;
  await sql`
    insert into token (id, symbol, name, created_at, approved_at)
    select '0.0.' || 20000 + n, 'T' || n, 'Token ' || n, 0, ${approved} from generate_series(1, ${each}::int) n`;
  await sql`
    insert into collection (id, name, supply, created_at, approved_at)
    select '0.0.' || 40000 + n, 'Cats ' || n, n, 0, ${approved} from generate_series(1, ${each}::int) n`;
  await sql`
    insert into project (id, slug, name, category, created_at, approved_at)
    select 'p' || n, 'p' || n, 'Project ' || n, 'DEFI', 0, ${approved} from generate_series(1, ${each}::int) n`;
}

/** A check for each day back, ten attributions each; the newest one ended very many. */
async function seedChecks(sql: Sql, { entries, releases }: BooksSize): Promise<void> {
  await sql`
    insert into holdings_check_run (id, day, kind, state, started_at, finished_at, passes)
    select gen_random_uuid(), utc_day(now_ms()) - n, 'scheduled', 'done', now_ms() - n * 1000::bigint, now_ms(), 1
    from generate_series(1, ${entries}::int) n`;
  await sql`
    insert into holdings_check_mint (run_id, event_id, kept, deferred)
    select id, 'full', 100, case when place = 1 then (select json_agg(json_build_object('collection', 'A',
        'serial', n, 'starId', gen_random_uuid(), 'wallet', '0.0.' || n,
        'reason', 'the mirror node gave two answers')) from generate_series(1, 500) n) else '[]' end
    from (select id, row_number() over (order by started_at desc) as place from holdings_check_run) runs`;
  await sql`
    insert into claim_release (event_id, seq, release, run_id, collection, serial, wallet, star_id, weight, owner,
      deleted, listed_at, read_at, released_at)
    select 'full', nextval('forever_mint_order'), place, id, 'A', 7000000 + place * 10 + n, 7000000 + n, gen_random_uuid(),
      1, '0.0.5', false, 0, 0, 0
    from (select id, row_number() over (order by started_at desc) as place from holdings_check_run) runs
    cross join lateral generate_series(1, case when place = 1 then ${releases}::int else 10 end) n`;
}

/** What a large service reported of itself within the last hour. */
async function seedReports(sql: Sql): Promise<void> {
  await sql`
    insert into service_process (id, role, version, host, pid, started_at, seen_at, report)
    select gen_random_uuid(), case when n % 2 = 0 then 'web' else 'worker' end, '0.1.0', 'host-' || n, n, 0,
      now_ms(), '{"memoryMb": 200, "postgresMs": 1, "redisMs": 1}' from generate_series(1, 100) n`;
  await sql`
    insert into service_minute (minute, name, count, total, peak)
    select (now_ms() / 60000)::int - back, name || n, 5, 5, 5
    from generate_series(0, 1500) back, generate_series(1, 8) n,
      unnest(array['accepted ', 'refused X', 'limited ', 'published ', 'pending ', 'mirror ']) name`;
}

/** What the pages read from Redis: jobs, refusals, the newest dry run. */
export async function seedRedis(url: string, jobs: number): Promise<void> {
  const rewards = openRewardsQueue(url, silentLogger);
  await rewards.ready();
  for (let from = 0; from < jobs; from += OFFERED_AT_ONCE) {
    const offers = Array.from({ length: OFFERED_AT_ONCE }, (_, n) => ({
      starId: `01a1f8c0-0000-7000-8000-${String(from + n).padStart(12, "0")}`,
      wallet: "0.0.1001",
      target: { type: "token", id: "0.0.20001" } as const,
      at: "2026-11-20T08:00:00.000Z",
      day: "2026-11-20",
    }));
    await rewards.offer(offers);
  }
  await rewards.close();
  const redis = createClient({ url });
  await redis.connect();
  for (let n = 0; n < jobs; n += 1) {
    const refused = { wallet: `0.0.${n}`, target: "event/hot", code: "ALREADY_STARRED" };
    await redis.xAdd(REFUSALS, "*", { ...refused, at: String(Date.now()) });
  }
  await redis.set(DRY_RUN, JSON.stringify(dryRun()));
  await redis.close();
}

function dryRun() {
  const deferred = Array.from({ length: DRY_LISTED }, (_, serial) => ({
    ...{ collection: "A", serial: serial + 1, starId: DRY_STAR },
    ...{ wallet: "0.0.1001", reason: "not read" },
  }));
  const mints = Array.from({ length: DRY_MINTS }, (_, mint) => ({
    event: `m${mint}`,
    ...{ kept: 100_000, removed: 5_000, weight: 5_000, open: 500, deferred },
  }));
  const releases = Array.from({ length: DRY_LISTED }, (_, serial) => ({
    ...{ event: "m0", wallet: "0.0.1001", collection: "A", serial: serial + 1, weight: 1 },
    ...{ spare: null, starId: DRY_STAR, owner: "0.0.5", deleted: false },
    ...{ listedAt: Date.now(), readAt: Date.now() },
  }));
  const startedAt = Date.now() - 1_000;
  return { state: "done", operator: "Ada", startedAt, report: { mints, releases } };
}
