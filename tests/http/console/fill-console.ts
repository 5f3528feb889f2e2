import { grantPass } from "../../../src/catalogue/premium.ts";
import { addSeason } from "../../../src/catalogue/seasons.ts";
import { issueKey, revokeKey } from "../../../src/keys/api-keys.ts";
import { newWallet, type Service } from "../../support/service.ts";

const DAY_MS = 86_400_000;

/** Something of everything for the operators' pages. The stars of a mint lose an NFT. */
export async function fillConsole(service: Service): Promise<void> {
  const { sql, hedera, collectionA } = service;
  const now = Date.now();
  await addSeason(sql, { name: "Summer", startsAt: now - 90 * DAY_MS, endsAt: now - DAY_MS });
  const on = { name: "Autumn", startsAt: now - DAY_MS, endsAt: now + 60 * DAY_MS };
  const season = await addSeason(sql, on);
  for (const wallet of ["0.0.1001", "0.0.1002", "0.0.24680"]) {
    await grantPass(sql, { wallet, seasonId: season.id });
  }
  await issueKey(sql, "Explorer of the ecosystem");
  await revokeKey(sql, (await issueKey(sql, "A prototype that is over")).id);
  await sql`insert into xp_credit (key, wallet, points, reason, at)
    values ('quest-7/0.0.1001', 1001, 250, 'Quest 7 finished', ${now - 3_600_000}),
      ('quest-7/0.0.1002', 1002, -40, 'Quest 7 booked twice', ${now - 60_000})`;
  await sql`update event set approved_at = null where id = 'meetup'`;
  await sql`insert into event (id, title, event_type, source, starts_at, ends_at, host, location, url, created_at)
    select 'waiting-' || n, 'Gathering of builders ' || n, 'ECOSYSTEM_MEETUP', 'SOURCE_A', ${now}, ${now + DAY_MS},
      'Builders', 'Lisbon', 'https://example.org/gatherings/' || n, ${now - DAY_MS} from generate_series(1, 3) n`;
  await sql`update outbox set tries = 4, next_try_at = ${now + 45_000},
    last_error = 'INSUFFICIENT_PAYER_BALANCE' where star_id = (select star_id from outbox order by star_id limit 1)`;
  await sql`insert into publishing_alarm (worker, reason, subject, detail, raised_at, seen_at)
    values (gen_random_uuid(), 'configuration', '0.0.5005', 'INSUFFICIENT_PAYER_BALANCE', ${now - 300_000}, ${now + DAY_MS})`;
  await sql`insert into publishing_finding (kind, topic_id, sequence_number, detail, noticed_at)
    values ('foreign', '0.0.5005', 41, 'transaction 0.0.777@1790000000.000000001', ${now - 600_000})`;
  await sql`insert into publishing_finding (kind, star_id, detail, noticed_at, resolved_at)
    select 'missing', star_id, 'accepted long ago and not published: pending', ${now - 7_200_000}, ${now - 3_600_000}
    from outbox order by star_id limit 1`;
  const buyer = await newWallet(service);
  await hedera.ledger.transfer(collectionA, 1, buyer.id);
}
