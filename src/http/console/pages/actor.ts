import { counted } from "../../../counted.ts";
import { TerminalError } from "../../../errors.ts";
import { actorWithHistory } from "../../../hosting/actor-body.ts";
import { type ActorName, formatActorName, parseActorName } from "../../../hosting/actor-name.ts";
import { type Replay, replayActor } from "../../../hosting/replay-actor.ts";
import { refuseOtherKind } from "../../../hosting/show-actor.ts";
import { eventNumbers } from "../../../reads/console-event.ts";
import { number } from "../amounts.ts";
import { copyable } from "../links.ts";
import { badge, type Html, html, section } from "../markup.ts";
import type { Page, PageRequest, PagesDeps } from "../page.ts";
import { secured } from "../reply.ts";
import { stateChart } from "../state-chart.ts";
import { stateWords } from "../words.ts";
import { eventActor } from "./actor-event.ts";
import { STEPS_MAX } from "./actor-past.ts";
import { walletDayActor } from "./actor-wallet-day.ts";

/** One actor: its machine, its state in words, how it came to be, and whether that is true. */
export function actorPage(deps: PagesDeps): Page {
  return {
    path: "/actors/*",
    below: "/actors",
    async show(request) {
      const name = await readName(deps, request);
      const view =
        name.type === "wallet-day"
          ? await walletDayActor(deps, name, request)
          : await eventActor(deps, name, request);
      const { title, state, version, past } = view;
      const drawing = await stateChart(name.type, past?.state ?? state);
      const replay = await replayed(deps, name, { request, version });
      const id = formatActorName(name);
      const raw = version > STEPS_MAX ? null : html`<a href="/ops/raw/actors/${id}">Raw JSON</a>`;
      const body = html`<div class="lead"><p>${copyable(id)}</p>
<p>${badge("plain", state)} ${stateWords(state)} · ${view.isPartial ? "at least " : ""}${counted(version, "star")} · ${view.source}</p></div>
${past?.section}
${past === null ? "" : chart("State chart, at that time", drawing)}
<div class="pair">
${section("Now", view.context, raw)}
${section("Replay check", replay)}
</div>
${past === null ? chart("State chart", drawing) : ""}
${view.more}
${section("History", view.history)}
${view.below}`;
      return { title, body };
    },
  };
}

/** An actor as JSON, as `/ops/api/actors/<id>` gives it. */
export function actorJsonPage(deps: PagesDeps): Page {
  return {
    path: "/raw/actors/*",
    async show(request) {
      const name = await readName(deps, request);
      if ((await starsOf(deps, name)) > STEPS_MAX)
        throw new TerminalError("INVALID_REQUEST", tooMany("show", formatActorName(name)));
      const actor = await actorWithHistory(deps.sql, deps.resting, name);
      secured(request.context);
      const text = JSON.stringify(actor, null, 2);
      return request.context.body(`${text}\n`, 200, { "Content-Type": "application/json" });
    },
  };
}

async function readName({ sql }: PagesDeps, { rest }: PageRequest): Promise<ActorName> {
  const name = parseActorName(rest);
  if (name === undefined) throw new TerminalError("NOT_FOUND", "This names no actor.");
  await refuseOtherKind(sql, name);
  return name;
}

/** A wallet's day has 20 at most. */
async function starsOf({ sql }: PagesDeps, name: ActorName): Promise<number> {
  if (name.type === "wallet-day") return 0;
  const day = name.type === "event-day" ? name.day : null;
  return (await eventNumbers(sql, name.event, day)).stars;
}

/** Every NFT of such an actor would be read, and voters share the process that reads them. */
function tooMany(verb: "show" | "replay", id: string): string {
  return `More than ${number(STEPS_MAX)} stars are too many for a page. Run starboard actors ${verb} ${id} instead.`;
}

function chart(title: string, drawing: Html): Html {
  return section(
    title,
    html`${drawing}
<p class="hint">Drawn from the machine that decides. The filled state is the one it is in.</p>`,
  );
}

async function replayed(
  deps: PagesDeps,
  name: ActorName,
  { request, version }: { readonly request: PageRequest; readonly version: number },
): Promise<Html> {
  const id = formatActorName(name);
  if (version > STEPS_MAX) return html`<p>${tooMany("replay", id)}</p>`;
  if (request.query.get("replay") === null) {
    return html`<p>Plays every event of this actor's journal through its machine again and compares the outcome with the state that is live.</p>
<form method="get" action="/ops/actors/${id}"><input type="hidden" name="replay" value="1"><button>Replay now</button></form>
<p class="hint">It only reads; the same as <code>starboard actors replay ${id}</code>.</p>`;
  }
  return verdict(await replayActor(deps.sql, deps.resting, name));
}

function verdict({ equal, differences, rules, replayed }: Replay): Html {
  if (equal) {
    return html`<p>${badge("good", "equal")} ${counted(replayed.version, "star")} of the journal make exactly the state that is live: <strong>${stateWords(replayed.state)}</strong>. Decided under rules ${rules.join(", ")}.</p>`;
  }
  return html`<p>${badge("bad", "different")} The journal, which counts, and the live state disagree:</p>
<ul class="bullets">${differences.map((difference) => html`<li>${difference}</li>`)}</ul>`;
}
