import { coerceError } from "../errors.ts";
import { UUID } from "../uuid.ts";
import { codeOf, runStatement, type Sql } from "./postgres.ts";
import { type Redis, readySoon, runCommand } from "./redis.ts";

/**
 * The database that a process has looked at: which server, timeline and tables it is
 * (`database_identity` in migrations/), and the newest epoch seen in it. Both are compared again
 * inside the statements that must not run on another one (`is_known_database`).
 */
export interface KnownDatabase {
  readonly identity: string;
  /** Undefined while no worker has ever written one. */
  readonly epoch: string | undefined;
}

/** What a look at the database found. */
export interface DatabaseSeen extends KnownDatabase {
  /** Whether it is the database that the process remembers, no older. */
  readonly isRemembered: boolean;
  /** Where the workers last knew the topics: another identity means that this is a copy. */
  readonly home: string | null;
  /** Later than every star that waits in it now, even where its clock was set back; epoch milliseconds. */
  readonly now: number;
}

/** Looked for this long after it was written; a process that slept longer reads the topics again. */
const EPOCHS_KEPT_MS = 3_600_000;
/** What one worker writes in that time: by a clock that is set ahead all would be old at once. */
const EPOCHS_KEPT = 1_800;

/**
 * Looks which database this is. On a standby it fails: nothing may be written there.
 *
 * @param remembered what the process saw last
 */
export async function lookAtDatabase(
  sql: Sql,
  remembered: KnownDatabase | undefined,
): Promise<DatabaseSeen> {
  const { identity = "", epoch = null } = remembered ?? {};
  const [seen] = await runStatement(sql<[Omit<DatabaseSeen, "epoch"> & { epoch: string | null }]>`
    select greatest(now_ms(), (
        -- Its server's clock may be behind the one by which the stars were dated that came with a copy.
        select instant_of_star_id(star_id) + 1 from outbox
        where state <> 'published' order by star_id desc limit 1)) as now,
      database_identity() as identity,
      (select identity from journal_home) as home,
      (select id from journal_epoch order by number desc limit 1) as epoch,
      database_identity() = ${identity} and (${epoch}::uuid is null
        or exists (select from journal_epoch where id = ${epoch}::uuid)) as "isRemembered"`);
  return { ...seen, epoch: seen.epoch ?? undefined };
}

/** Adds an epoch: processes that see it notice when the journal goes back behind it. */
export async function renewEpoch(sql: Sql): Promise<void> {
  await runStatement(sql`
    with aged as (delete from journal_epoch where at < now_ms() - ${EPOCHS_KEPT_MS}::bigint
      and number < (select max(number) from journal_epoch) - ${EPOCHS_KEPT}::bigint)
    insert into journal_epoch default values`);
}

/** In the place of an identity: workers that start here wait as well, until one has settled in. */
export const A_COPY = "a copy";

/** Writes down in which database workers know the topics. */
export async function settleIn(sql: Sql, identity: string): Promise<void> {
  await runStatement(sql`
    insert into journal_home (identity) values (${identity})
    on conflict (singleton) do update set identity = excluded.identity, at = excluded.at`);
}

const READ_ONLY = "25006";

/**
 * Writes down that a journal without a star is at home here, before the first star is taken: nothing was
 * sent from it. So a dump of before any worker ran, with stars, is known for a copy wherever it is
 * restored. On a standby it writes nothing.
 */
export async function settleInWithoutStars(sql: Sql): Promise<void> {
  try {
    await runStatement(sql`
      insert into journal_home (identity) select database_identity()
      where not exists (select from outbox) on conflict do nothing`);
  } catch (error) {
    if (codeOf(coerceError(error).cause) !== READ_ONLY) throw error;
  }
}

/**
 * Keeps the epoch that workers wrote last outside of the database too. A copy of the disk that is
 * put back under the same server has that server's identity and none of the later rows: a worker
 * that starts on it can notice only by what is kept elsewhere.
 */
export type EpochWitness = ReturnType<typeof createEpochWitness>;

const KEY = "starboard:journal-epoch";
const KEPT = /^([!-~]+) ([!-~]+)$/;
/** By then all that was on its way when the last worker stopped has long landed or expired. */
const KEPT_MS = 600_000;
const DEADLINE_MS = 1_000;

/** Redis as the witness. It may be away or forget: then a copy is not noticed, and nothing else is lost. */
export function createEpochWitness(redis: Redis) {
  return {
    /** @returns what was kept last; undefined where nothing is known. Never rejects */
    async recall(): Promise<KnownDatabase | undefined> {
      try {
        await readySoon(redis, DEADLINE_MS);
        const text = (await runCommand(redis.get(KEY), DEADLINE_MS)) ?? "";
        const [, identity = "", epoch = ""] = KEPT.exec(text) ?? [];
        // Others may have written there: what is no epoch would fail in Postgres, at each look.
        return UUID.test(epoch) ? { identity, epoch } : undefined;
      } catch {
        return undefined;
      }
    },
    /** Never rejects. */
    async keep({ identity, epoch }: KnownDatabase): Promise<void> {
      if (epoch === undefined) return;
      const kept = redis.set(KEY, `${identity} ${epoch}`, { PX: KEPT_MS });
      await runCommand(kept, DEADLINE_MS).catch(() => undefined);
    },
  };
}
