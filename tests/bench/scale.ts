import type { Sql } from "../../src/store/postgres.ts";
import { startServer } from "./candidates.ts";
import { holdTo } from "./cpu-share.ts";
import { type Bench, type Candidate, measure } from "./measure.ts";
import { atLeast, atMost, type Figures, type Goal, show, spreadOf, table } from "./report.ts";
import { seedForStars } from "./seed.ts";
import { EVENTS, FIRST_WALLET } from "./workloads.ts";

/**
 * What more of something does to accepted stars:
 *
 *   shares    1, 2 and 4 web processes, each held to a quarter of a core, so that two cores have
 *             room for all of them and for Postgres
 *   journal   an empty journal, and one of 10,000,000 stars with their claims and messages
 */
const SHARE = 0.25;
const PROCESSES = [1, 2, 4] as const;
const TEMPLATES = { empty: "bench_scale_empty", full: "bench_scale_full" } as const;
const JOURNAL_STARS = 10_000_000;
/** The past of a busy service: so many stars a day, on days before today. */
const PAST_DAYS = 40;
const PAST_WALLETS = 500_000_000;
const PAST_SERIALS = 500_000_000;
const STARS_PER_LOAD = 500_000;

export async function benchScale(bench: Bench): Promise<void> {
  const { options, world, note } = bench;
  const wallets = options.quick ? 30_000 : 400_000;
  const stars = options.quick ? 20_000 : JOURNAL_STARS;
  const wanted = (name: string): boolean => options.only?.split(",").includes(name) ?? true;
  await world.template(TEMPLATES.empty, (sql) => seedForStars(sql, wallets));
  if (wanted("journal")) {
    note(`filling a journal with ${stars} stars`);
    await world.template(TEMPLATES.full, async (sql) => {
      await seedForStars(sql, wallets);
      await fillJournal(sql, stars);
    });
  }
  for (let round = 0; round < options.rounds; round += 1) {
    note(`round ${round + 1} of ${options.rounds}`);
    if (wanted("shares")) for (const count of PROCESSES) await shares(bench, count, wallets);
    if (!wanted("journal")) continue;
    const sizes = Object.entries(TEMPLATES);
    // The order changes each round, so that any drift affects both.
    for (const [size, template] of round % 2 === 0 ? sizes : sizes.toReversed()) {
      await withEngine(bench, { template, name: `journal ${size}` }, (engine) =>
        measure(bench, engine, {
          workload: { kind: "cold", first: FIRST_WALLET },
          connections: 64,
          status: "201",
          wallets,
          from: 0,
          name: `journal ${size}`,
        }),
      );
    }
  }
}

async function withEngine(
  bench: Bench,
  order: { readonly template: string; readonly name: string; readonly processes?: number },
  work: (engine: Candidate) => Promise<unknown>,
): Promise<void> {
  const engine = await startServer(bench, { kind: "engine", ...order });
  try {
    await work(engine);
  } finally {
    await engine.stop();
  }
}

async function shares(bench: Bench, processes: number, wallets: number): Promise<void> {
  const name = `shares ${processes}`;
  const order = { template: TEMPLATES.empty, name, processes };
  let share: ReturnType<typeof holdTo>;
  await withEngine(bench, order, async (engine) => {
    share = holdTo(
      SHARE,
      engine.processes.map(({ pid }) => pid),
    );
    if (share === undefined) {
      bench.note("  this login may make no cgroups: processes of a quarter core are left out");
      return;
    }
    const workload = { kind: "random", first: FIRST_WALLET, wallets } as const;
    const common = { workload, connections: 64, status: "201", from: 0 } as const;
    await measure(bench, engine, { ...common, wallets: Number.MAX_SAFE_INTEGER, name });
  });
  share?.release();
}

/**
 * Stars of days gone by as they stand there afterwards: the star, its two claims, its published
 * message and the events' totals. Loaded past the triggers, which let each star in by itself.
 */
async function fillJournal(sql: Sql, stars: number): Promise<void> {
  await sql`
    select ensure_star_partition(utc_day(now_ms()) - back)
    from generate_series(1, ${PAST_DAYS}::int) back`;
  for (let from = 0; from < stars; from += STARS_PER_LOAD) {
    const last = Math.min(from + STARS_PER_LOAD, stars) - 1;
    await sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`
        with given as materialized (
          select n, utc_day(now_ms()) - 1 - (n % ${PAST_DAYS}::int) as day, 'e' || 1 + n % ${EVENTS}::int as event,
            ${PAST_WALLETS}::bigint + n as wallet, ${PAST_SERIALS}::bigint + 2 * n::bigint as serial
          from generate_series(${from}::int, ${last}::int) n
        ), dated as materialized (
          select *, (day - date '1970-01-01') * 86400000::bigint + n % 86400000 as at from given
        ), named as materialized (
          select *, (lpad(to_hex(at), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid as id
          from dated
        ), starred as (
          insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint,
            voting_power, weight, base, counted_a, bonus_b, held_a, held_b, claimed_a, holdings_read_at, allowance_limit)
          select id, day, wallet, 1, at, 'event', event, false, 3, 3, 1, 2, 0,
            array[serial, serial + 1], '{}', array[serial, serial + 1], at, 5 from named
        ), claimed as (
          insert into serial_claim (event_id, day, collection, serial, wallet, star_id)
          select event, day, 'A', serial + extra, wallet, id
          from named cross join generate_series(0, 1) as extra
        )
        insert into outbox (star_id, topic, message, state, topic_id, transaction_id, sequence_number,
          consensus_timestamp, running_hash, published_at)
        select id, 'event', '{"timestamp":' || at || ',"wallet":"0.0.' || wallet || '"}', 'published', '0.0.7001',
          '0.0.1002@' || at / 1000 || '.' || lpad(n::text, 9, '0'), n + 1, at / 1000 || '.000000000', 'hash', at
        from named`;
    });
  }
  await sql`
    insert into event_total (event_id, weight, stars)
    select target_id, sum(weight), count(*) from star group by target_id`;
}

export function showScale(figures: Figures): string {
  const rows = figures.names("/s").map((full) => {
    const name = full.replace(/ \/s$/, "");
    const of = (what: string) => show(spreadOf(figures.of(`${name} ${what}`)));
    return [name, ...["/s", "p50 ms", "p99 ms", "server µs", "postgres µs", "slot"].map(of)];
  });
  const head = ["", "per second", "p50 ms", "p99 ms", "server CPU µs", "postgres CPU µs"];
  return table([...head, "handed back"], rows);
}

export function scaleGoals(figures: Figures): readonly Goal[] {
  const of = (name: string, ceiling: string) => figures.ratio(name, ceiling);
  const full = (what: string) => of(`journal full ${what}`, `journal empty ${what}`);
  return [
    atLeast("2 processes ÷ 1, a quarter core each", 1.8, of("shares 2 /s", "shares 1 /s")),
    atLeast("4 processes ÷ 1, a quarter core each", 3.6, of("shares 4 /s", "shares 1 /s")),
    atMost("server CPU a star, 10,000,000 stars ÷ none", 1.1, full("server µs")),
    atMost("Postgres CPU a star, 10,000,000 stars ÷ none", 1.1, full("postgres µs")),
  ];
}
