import type { AnyStateMachine } from "xstate";
import { eventDayMachine } from "../../../actors/event-day.ts";
import { foreverMintMachine } from "../../../actors/forever-mint.ts";
import { mintWalletMachine } from "../../../actors/mint-wallet.ts";
import { walletDayMachine } from "../../../actors/wallet-day.ts";
import type { ActorType } from "../../hosting/actor-name.ts";
import { loadOnce } from "../../load-once.ts";
import { type Html, html, raw } from "./markup.ts";
import { spelled } from "./words.ts";

/** The machines of each kind of actor; on a forever mint each wallet has one too. */
const MACHINES: Readonly<Record<ActorType, readonly AnyStateMachine[]>> = {
  "wallet-day": [walletDayMachine],
  "event-day": [eventDayMachine],
  "forever-mint": [foreverMintMachine, mintWalletMachine],
};

/** Drawings are few: a machine with one of its states marked. */
const drawings = new Map<string, () => Promise<string>>();

/**
 * Draws an actor's machines with its present state marked, and below each lists what happens in
 * each state: both from the machine itself, so they cannot differ from the rules. Graphviz
 * is loaded with the first drawing.
 *
 * @param state one of the machine's states
 */
export async function stateChart(type: ActorType, state: string): Promise<Html> {
  const charts = await Promise.all(MACHINES[type].map((machine) => machineChart(machine, state)));
  return html`${charts}`;
}

async function machineChart(machine: AnyStateMachine, state: string): Promise<Html> {
  const isHere = state in machine.root.states;
  const key = `${machine.id} ${isHere ? state : ""}`;
  const drawing = drawings.get(key) ?? loadOnce(() => draw(dotOf(machine, state)));
  drawings.set(key, drawing);
  const marked = isHere ? `; the marked state is ${state}` : "";
  return html`<div class="machine">
<div class="scroll" role="region" aria-label="State chart of ${machine.id}${marked}" tabindex="0">${raw(await drawing())}</div>
<div class="rules hint">${rulesOf(machine).map(
    ([when, rules]) =>
      html`<h3>${when}</h3><ul>${rules.map((rule) => html`<li>${rule}</li>`)}</ul>`,
  )}</div>
</div>`;
}

async function draw(dot: string): Promise<string> {
  const { Graphviz } = await import("@hpcc-js/wasm-graphviz");
  const svg = (await Graphviz.load()).dot(dot);
  // Only the picture: no prologue, no size in points, no page colour; and no names, for two drawings
  // may stand on one page.
  return svg
    .slice(svg.indexOf("<svg"))
    .replace(
      /<svg width="(\d+)pt" height="(\d+)pt"/,
      `<svg width="$1" height="$2" aria-hidden="true" class="state-chart"`,
    )
    .replace(/ id="[^"]*"/g, "")
    .replace(/<title>[^<]*<\/title>\n?/g, "");
}

/** The machine in graphviz's language: its states from top to bottom, and the moves between them. */
export function dotOf(machine: AnyStateMachine, current: string): string {
  const states = Object.keys(machine.root.states);
  const first = machine.root.initial.target[0]?.key ?? states[0] ?? "";
  const edges = states.flatMap((from) =>
    transitionsOf(machine, from).flatMap((move) => {
      const actions = actionsOf(move);
      // A label stands close to its arrow.
      const label = `  ${conditionOf(move)}${actions.length === 0 ? "" : `\n→ ${actions.join(", ")}`}`;
      return (move.target ?? []).map(
        (target) => `${quoted(from)} -> ${quoted(target.key)} [label=${quoted(label)}];`,
      );
    }),
  );
  const nodes = states.map(
    (state) => `${quoted(state)} [class="state${state === current ? " current" : ""}"];`,
  );
  // Measured in a wide font, for the reader's own font is not known here: words keep clear of lines.
  return `digraph {
  bgcolor="transparent"; nodesep=0.4; ranksep=0.5;
  node [shape=box, style="rounded", fontname="Verdana", fontsize=14, margin="0.25,0.12"];
  edge [fontname="Verdana", fontsize=12, arrowsize=0.8];
  start [shape=point, width=0.14, class="start", label=""];
  ${nodes.join("\n  ")}
  start -> ${quoted(first)};
  ${edges.join("\n  ")}
}`;
}

/** What happens in each state without leaving it, under the state's name. */
export function rulesOf(machine: AnyStateMachine): readonly [string, readonly string[]][] {
  return Object.keys(machine.root.states).map((state) => [
    `In ${state}`,
    transitionsOf(machine, state)
      .filter(({ target }) => target === undefined)
      .map((stay) => `${conditionOf(stay)} → ${actionsOf(stay).join(", ")}`),
  ]);
}

type Transition =
  AnyStateMachine["root"]["transitions"] extends Map<string, (infer T)[]> ? T : never;

function transitionsOf(machine: AnyStateMachine, state: string): readonly Transition[] {
  return [...(machine.root.states[state]?.transitions.values() ?? [])].flat();
}

/** `star [is last vote]`. */
function conditionOf({ eventType, guard }: Transition): string {
  const name =
    typeof guard === "string" ? guard : guard && "type" in guard ? String(guard.type) : "";
  return name === "" ? eventType : `${eventType} [${spelled(name)}]`;
}

function actionsOf({ actions }: Transition): readonly string[] {
  return actions.map((action) =>
    spelled(typeof action === "string" ? action : "type" in action ? String(action.type) : ""),
  );
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`;
}
