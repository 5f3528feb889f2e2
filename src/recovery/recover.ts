import { dayOf, startOfDay } from "../../actors/day.ts";
import type { Ownerships } from "../audit/ownership.ts";
import { readOwnerships } from "../audit/read-ownership.ts";
import { LAG_MS } from "../audit/rebuild-weights.ts";
import { runLong, type Sql } from "../store/postgres.ts";
import {
  excludeAcceptedLosses,
  markExportedConflicts,
  storeAcceptedLosses,
} from "./exported-exceptions.ts";
import { recoverDays } from "./recover-days.ts";
import { Notes, PIECE, type Recovered, type Recovery } from "./recovery.ts";
import { renewDays } from "./renew-days.ts";
import { stageMessages } from "./stage-messages.ts";

/**
 * Brings back what the journal lost: reads the topics to their ends, gives stars that wait the
 * messages they have, and writes those that are missing, piece by piece. Each step takes up where
 * it was left, so a run may be killed at any moment and made again.
 *
 * Where something cannot be proved, nothing is written unless that is accepted.
 *
 * @throws MirrorError when the mirror node cannot be read; RetryableError `UNAVAILABLE` when
 *   Postgres is out of reach
 */
export async function recover(recovery: Recovery): Promise<Recovered> {
  const { sql, isDryRun, accepts } = recovery;
  const notes = new Notes();
  // A statement that a killed run left goes by what that run has marked, and this one forgets it.
  await runLong(sql`select wait_for_recovery()`);
  await stageMessages(recovery, notes);
  await forgetMarks(sql);
  const losses = await excludeAcceptedLosses(recovery, notes);
  await markExportedConflicts(recovery, notes);
  await runLong(sql`
    update recovery_message said set conflicts_with = first_star
    from repeats() as repeated where is_taken_in and said.star_id = repeated.id`);
  const ownerships = await readHistories(recovery);
  const planned = new Notes();
  const plan = isDryRun || !accepts;
  const looked =
    plan && (await recoverDays(recovery, { ownerships, notes: planned, writes: false }));
  const doubts = () => [...notes.unprovable, ...planned.unprovable];
  if (looked && (isDryRun || doubts().length > 0)) {
    const { adopted, repeats } = await countBeside(sql);
    await noteLeftOver(sql, planned, isSecond(sql));
    const { recovered } = looked;
    const conflicts = looked.conflicts + repeats;
    const none = { exact: [], renewed: [], written: false };
    const { ignored } = planned;
    return { recovered, adopted, conflicts, unprovable: doubts(), ignored, ...none };
  }
  const adopted = await adopt(recovery);
  const [aside] = await runLong(sql<[{ stars: number }]>`select settle_repeats() as stars`);
  await runLong(sql`select reopen_days()`);
  await storeAcceptedLosses(sql, losses);
  const walked = await recoverDays(recovery, { ownerships, notes, writes: true });
  const days = await renewDays(recovery, notes);
  await noteLeftOver(sql, notes);
  const { unprovable, ignored } = notes;
  const { recovered } = walked;
  const conflicts = walked.conflicts + aside.stars;
  return { recovered, adopted, conflicts, unprovable, ignored, ...days, written: true };
}

/** An earlier run marked what its exports said, also where it wrote nothing. This one may have others. */
async function forgetMarks(sql: Sql): Promise<void> {
  await runLong(
    sql`update recovery_message set conflicts_with = null where conflicts_with is not null`,
  );
}

/** Histories since the day of the first star that is missing; nothing is read where none is. */
async function readHistories({ sql, mirror, settings, onProgress }: Recovery): Promise<Ownerships> {
  const [row] = await runLong(
    sql<[{ first: number | null }]>`select min(at) as first from recovery_message`,
  );
  const nothing = { tenures: new Map(), isPartial: false };
  if (row.first === null) return { A: nothing, B: nothing };
  return readOwnerships({
    mirror,
    collections: { a: settings.collections.a.id, b: settings.collections.b.id },
    since: startOfDay(dayOf(row.first)) - LAG_MS,
    onProgress: (nfts) => onProgress("NFTs", nfts, null),
  });
}

/** The journal's stars whose messages are there, and those that one which comes back precedes. */
async function countBeside(sql: Sql) {
  const [row] = await runLong(sql<[{ adopted: number; repeats: number }]>`
      select (select count(*) from repeats() where not is_taken_in) as repeats,
        (select count(distinct star_id) from recovery_message join outbox using (star_id)
          where outbox.state <> 'published' and outbox.message = recovery_message.message) as adopted`);
  return row;
}

async function adopt({ sql, piece }: Recovery): Promise<number> {
  let adopted = 0;
  for (let more = true; more; ) {
    const [row] = await runLong(sql<[{ waiting: number; adopted: number }]>`
      select * from adopt_messages(${piece})`);
    adopted += row.adopted;
    // A worker may have been faster with all of them, and others wait behind them.
    more = row.waiting > 0;
  }
  // Those that a worker has given their stars since they were taken in, too.
  await runLong(sql`
    delete from recovery_message said using outbox
    where outbox.topic_id = said.topic_id and outbox.sequence_number = said.sequence_number
      and outbox.state = 'published'`);
  return adopted;
}

/** Which messages a run that writes leaves over: their stars have, or get, another one. */
function isSecond(sql: Sql) {
  return sql`case when own.state = 'published'
    then (own.topic_id, own.sequence_number) <> (said.topic_id, said.sequence_number)
    else own.message <> said.message or exists (select from recovery_message earlier
      where earlier.star_id = said.star_id and earlier.consensus_timestamp < said.consensus_timestamp
        and earlier.message = coalesce(own.message, earlier.message)) end`;
}

/** Messages of stars that have another one already. @param which of those taken in */
async function noteLeftOver(sql: Sql, notes: Notes, which = sql`true`): Promise<void> {
  const rows = await runLong(sql<{ place: string; star: string }[]>`
      select said.topic_id || ' #' || said.sequence_number as place, star_id as star
      from recovery_message said left join outbox own using (star_id) where ${which}
      order by said.topic_id, said.sequence_number limit ${PIECE}`);
  for (const { place, star } of rows) notes.doubt(`${place}: a second message of star ${star}`);
}
