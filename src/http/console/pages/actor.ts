import { TerminalError } from "../../../errors.ts";
import { actorHistory } from "../../../hosting/actor-history.ts";
import { type ActorName, formatActorName, parseActorName } from "../../../hosting/actor-name.ts";
import { type Replay, replayActor, showActor } from "../../../hosting/inspect-actor.ts";
import { badge, type Html, html, number, section } from "../markup.ts";
import type { Page, PageRequest } from "../page.ts";
import { secured } from "../reply.ts";
import { stateChart } from "../state-chart.ts";
import { stateWords } from "../words.ts";
import { eventActor } from "./actor-event.ts";
import { type ActorDeps, type ActorView, STEPS_MAX } from "./actor-view.ts";
import { walletDayActor } from "./actor-wallet-day.ts";

/** One actor: its machine, its state in words, how it came to be, and whether that is true. */
export function actorPage(deps: ActorDeps): Page {
  return {
    path: "/actors/*",
    below: "/actors",
    async show(request) {
      const name = parseActorName(request.rest);
      if (name === undefined) throw new TerminalError("NOT_FOUND", "This names no actor.");
      const view =
        name.type === "wallet-day"
          ? await walletDayActor(deps, name, request)
          : await eventActor(deps, name, request);
      const drawing = await stateChart(name.type, view.state);
      const replay = await replayed(deps, name, { request, version: view.version });
      return { title: formatActorName(name), body: page(name, view, { drawing, replay }) };
    },
  };
}

/** An actor as JSON, as `starboard actors show` prints it. */
export function actorJsonPage(deps: ActorDeps): Page {
  return {
    path: "/raw/actors/*",
    async show({ rest, context }) {
      const name = parseActorName(rest);
      if (name === undefined) throw new TerminalError("NOT_FOUND", "This names no actor.");
      const [actor, history] = await Promise.all([
        showActor(deps, name),
        actorHistory(deps.sql, name),
      ]);
      secured(context);
      return context.json({ ...actor, history });
    },
  };
}

function page(
  name: ActorName,
  { state, version, source, context, more, history, past }: ActorView,
  { drawing, replay }: { readonly drawing: Html; readonly replay: Html },
): Html {
  const id = formatActorName(name);
  return html`<p class="lead">${badge("plain", state)} ${stateWords(state)} · ${number(version)} ${version === 1 ? "star" : "stars"} · from the ${source}</p>
${past}
<div class="pair">
${section("Now", context)}
${section(
  "Check",
  html`${replay}
<p>Raw, as <code>starboard actors show</code> prints it: <a href="/ops/raw/actors/${id}">JSON</a></p>`,
)}
</div>
${section(
  "Machine",
  html`<div class="scroll" role="region" aria-label="State chart of ${name.type}; the present state is ${state}" tabindex="0">${drawing}</div>
<p class="hint">Drawn from the machine that decides; the filled state is the present one.</p>`,
)}
${more}
${section("History", history)}`;
}

async function replayed(
  deps: ActorDeps,
  name: ActorName,
  { request, version }: { readonly request: PageRequest; readonly version: number },
): Promise<Html> {
  const id = formatActorName(name);
  if (version > STEPS_MAX) {
    return html`<p>More than ${number(STEPS_MAX)} stars: fold them by <code>starboard actors replay ${id}</code>.</p>`;
  }
  if (request.query.get("replay") === null) {
    return html`<p>Folds the whole journal of this actor through its machine and compares that with what is live.</p>
<form method="get" action="/ops/actors/${id}"><input type="hidden" name="replay" value="1"><button>Replay now</button></form>`;
  }
  return verdict(await replayActor(deps, name));
}

function verdict({ equal, differences, replayed }: Replay): Html {
  if (equal) {
    return html`<p>${badge("good", "equal")} ${number(replayed.version)} stars of the journal make exactly what is live: <strong>${stateWords(replayed.state)}</strong>.</p>`;
  }
  return html`<p>${badge("bad", "different")} The journal and what is live disagree:</p>
<ul>${differences.map((difference) => html`<li>${difference}</li>`)}</ul>`;
}
