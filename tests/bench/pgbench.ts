import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { EVENTS } from "./workloads.ts";

/** What Postgres itself does in a second: a whole durable turn, one commit each. */
export interface PgbenchReport {
  readonly perSecond: number;
  readonly latencyMs: number;
}

const PLACES = ["/usr/lib/postgresql/15/bin/pgbench", "/usr/bin/pgbench"];

/** Postgres' own load generator, where the machine has one. */
export function findPgbench(): string | undefined {
  return PLACES.find((place) => existsSync(place));
}

/**
 * One star as one statement: the journal row, its message, the counter. The rival of every
 * design: no rule is asked and nothing is read before, so nothing on this schema is faster at a
 * commit per star.
 *
 * @param claims also the two NFTs that a star on an event uses up
 */
function turn(claims: boolean): string {
  // In prepared mode a colon before a word is a parameter, even within quotes: hence the spaces.
  // So many that no two turns of a run meet: a wallet has one first star a day.
  return `\\set wallet random(1, 2000000000000000)
\\set event random(1, ${EVENTS})
with stored as (
  insert into star (id, day, wallet, slot, at, target_type, target_id, is_forever_mint, voting_power, weight,
    base, counted_a, bonus_b, held_a, held_b, holdings_read_at, allowance_limit)
  select gen_random_uuid(), utc_day(at), :wallet::bigint, 1, at, 'event', 'e' || :event::text, false, 3, 3,
    1, 2, 0, array[:wallet::bigint, :wallet::bigint + 1], '{}', at, 5
  from (select now_ms() as at) as present
  returning id, day, at, wallet, target_id
), boxed as (
  insert into outbox (star_id, topic, message)
  select id, 'event', '{"type": "event_vote", "version": 1, "wallet": "0.0.' || wallet || '", "event_id": "'
    || target_id || '", "event_type": "ECOSYSTEM_MEETUP", "vote": "up", "timestamp": ' || at || '}'
  from stored
)${
    claims
      ? `, claimed as (
  insert into serial_claim (event_id, day, collection, serial, wallet, star_id)
  select target_id, day, 'A', serial, wallet, id
  from stored, unnest(array[2 * wallet, 2 * wallet + 1]) as serial
)`
      : ""
  }
insert into event_total as total (event_id, weight, stars) values ('e' || :event::text, 3, 1)
on conflict (event_id) do update set weight = total.weight + excluded.weight, stars = total.stars + 1
returning weight;
`;
}

export async function pgbench(given: {
  readonly program: string;
  readonly url: string;
  readonly folder: string;
  readonly clients: number;
  readonly seconds: number;
  readonly claims: boolean;
}): Promise<PgbenchReport> {
  const { program, url, folder, clients, seconds, claims } = given;
  const script = join(folder, `turn-${claims}.sql`);
  writeFileSync(script, turn(claims));
  const { hostname, port, username, password, pathname } = new URL(url);
  const { stdout } = await promisify(execFile)(
    program,
    [
      ...["-n", "-M", "prepared", "-f", script, "-T", String(Math.max(1, Math.round(seconds)))],
      ...["-c", String(clients), "-j", String(Math.min(2, clients))],
      ...["-h", hostname, "-p", port, "-U", username, pathname.slice(1)],
    ],
    { env: { PGPASSWORD: decodeURIComponent(password), PATH: process.env.PATH ?? "" } },
  );
  const [, tps] = /^tps = ([\d.]+) \(without/m.exec(stdout) ?? [];
  const [, latency] = /^latency average = ([\d.]+) ms/m.exec(stdout) ?? [];
  return { perSecond: Number(tps), latencyMs: Number(latency) };
}
