import type { EventTables } from "../../../../actors/whole.ts";
import { type ActorName, formatActorName } from "../../../hosting/actor-name.ts";
import { eventDayAfter, foreverMintAfter } from "../../../hosting/time-travel.ts";
import type { EventNumbers } from "../../../reads/console-event.ts";
import { type Content, facts, type Html, html, number } from "../markup.ts";
import type { PagesDeps } from "../page.ts";
import { type ActorView, pastState, STEPS_MAX } from "./actor-view.ts";

type EventName = Exclude<ActorName, { type: "wallet-day" }>;

/** The actor as it stood after so many of its events: folded by the machine, not remembered. */
export async function eventPast(
  sql: PagesDeps["sql"],
  name: EventName,
  { asked, numbers }: { readonly asked: number | undefined; readonly numbers: EventNumbers },
): Promise<ActorView["past"]> {
  if (asked === undefined) return null;
  const id = formatActorName(name);
  if (numbers.isPartial || numbers.stars + numbers.releases > STEPS_MAX) {
    const tooLong = html`<p class="notice warn">More than ${number(STEPS_MAX)} events: this history is too long to be walked here.</p>`;
    return { state: null, section: tooLong };
  }
  const after = (steps: number): Promise<EventTables> =>
    name.type === "event-day"
      ? eventDayAfter(sql, name, steps)
      : foreverMintAfter(sql, name.event, steps);
  // Releases are events of a mint too.
  const last = numbers.stars + numbers.releases;
  const step = Math.min(asked, last);
  const [before, now] = await Promise.all([step === 0 ? null : after(step - 1), after(step)]);
  // Machines of events have one state each, at all times.
  return { state: null, section: pastState(id, { step, last, content: difference(before, now) }) };
}

function difference(then: EventTables | null, now: EventTables): Html {
  const { weight, stars, A, B } = now;
  const sizes = `${number(A.size)} of A, ${number(B.size)} of B`;
  const change =
    then === null
      ? ""
      : ` (${weight >= then.weight ? "+" : ""}${weight - then.weight} by this event)`;
  return facts([
    ["Stars", number(stars)],
    ["Weight", `${number(weight)}${change}`],
    ["NFTs that counted", sizes],
    ...(then === null ? [] : changes(then, now)),
  ]);
}

/** Serials of one event, some of which may be many. */
const SERIALS_SHOWN = 30;

function changes(then: EventTables, now: EventTables): [string, Content][] {
  const gone = (from: EventTables, to: EventTables): string[] =>
    (["A", "B"] as const).flatMap((collection) =>
      [...from[collection]]
        .filter(([serial, { wallet }]) => to[collection].get(serial)?.wallet !== wallet)
        .map(([serial, { wallet }]) => `${collection} ${serial} for ${wallet}`),
    );
  const said = (serials: readonly string[]): string =>
    serials.length > SERIALS_SHOWN
      ? `${serials.slice(0, SERIALS_SHOWN).join(", ")} and ${serials.length - SERIALS_SHOWN} more`
      : serials.join(", ");
  const [added, removed] = [gone(now, then), gone(then, now)];
  return [
    ...(added.length === 0 ? [] : ([["Newly counted", said(added)]] as [string, Content][])),
    ...(removed.length === 0
      ? []
      : ([["No longer counted", said(removed)]] as [string, Content][])),
  ];
}
