import { TerminalError } from "../../../errors.ts";
import { parseActorName } from "../../../hosting/actor-name.ts";
import { dayOfStarId } from "../../../journal/star-id.ts";
import { isEntityId } from "../../../ledger/entity-id.ts";
import { findEvents } from "../../../reads/console-event.ts";
import { starOfMessage, starOfTransaction } from "../../../reads/console-wallet.ts";
import type { Sql } from "../../../store/postgres.ts";
import { textOf } from "../links.ts";
import type { Page, PagesDeps } from "../page.ts";
import { goTo } from "../reply.ts";

/** `0.0.n@seconds.nanos`, or `0.0.n-seconds-nanos` as explorers write it. */
const TRANSACTION = /^(0\.0\.\d{1,12})[@-](\d{1,12})[.-](\d{1,9})$/;
/** `0.0.n#7`, `0.0.n/7`. */
const MESSAGE = /^(0\.0\.\d{1,12})[#/](\d{1,15})$/;

/** The one search box: it leads to the page of the thing that is named. */
export function searchPage({ sql }: PagesDeps): Page {
  return {
    path: "/search",
    async show({ query, context }) {
      return goTo(context, `/ops${await pathOf(sql, textOf(query, "q"))}`);
    },
  };
}

async function pathOf(sql: Sql, q: string): Promise<string> {
  if (q === "") return "/actors";
  if (isEntityId(q)) return `/wallets/${q}`;
  if (dayOfStarId(q.toLowerCase()) !== null) return `/stars/${q.toLowerCase()}`;
  const [, payer, seconds, nanos = ""] = TRANSACTION.exec(q) ?? [];
  if (payer !== undefined) {
    const id = `${payer}@${seconds}.${nanos.padStart(9, "0")}`;
    return starPath(await starOfTransaction(sql, id), `No star has the transaction ${id}.`);
  }
  const [, topic, sequence] = MESSAGE.exec(q) ?? [];
  if (topic !== undefined) {
    const star = await starOfMessage(sql, { topic, sequence: Number(sequence) });
    return starPath(star, `Message ${sequence} of topic ${topic} is no published star's.`);
  }
  if (parseActorName(q) !== undefined) return `/actors/${q}`;
  const event = (await findEvents(sql, [q])).get(q);
  if (event?.isForeverMint) return `/actors/forever-mint/${q}`;
  return `/actors?${new URLSearchParams({ type: "event-day", q })}`;
}

function starPath(star: string | null, missing: string): string {
  if (star === null) throw new TerminalError("NOT_FOUND", missing);
  return `/stars/${star}`;
}
