import type { AnyStateMachine } from "xstate";
import { eventDayMachine } from "../../../actors/event-day.ts";
import { foreverMintMachine } from "../../../actors/forever-mint.ts";
import { walletDayMachine } from "../../../actors/wallet-day.ts";
import type { ActorType } from "../../hosting/actor-name.ts";
import { type Html, raw } from "./markup.ts";
import { spelled } from "./words.ts";

const MACHINES: Readonly<Record<ActorType, AnyStateMachine>> = {
  "wallet-day": walletDayMachine,
  "event-day": eventDayMachine,
  "forever-mint": foreverMintMachine,
};

/** Drawings are few: a machine with one of its states marked. */
const drawings = new Map<string, Promise<string>>();

/**
 * Draws an actor's machine with its present state marked: from the machine itself, so the drawing
 * cannot tell another story than the rules. Graphviz is loaded with the first drawing.
 *
 * @param state one of the machine's states
 */
export async function stateChart(type: ActorType, state: string): Promise<Html> {
  const key = `${type} ${state in MACHINES[type].root.states ? state : ""}`;
  let drawing = drawings.get(key);
  if (drawing === undefined) {
    drawing = draw(dotOf(MACHINES[type], state));
    drawings.set(key, drawing);
    // Not kept when it failed: the next page tries again.
    drawing.catch(() => drawings.delete(key));
  }
  return raw(await drawing);
}

async function draw(dot: string): Promise<string> {
  const { Graphviz } = await import("@hpcc-js/wasm-graphviz");
  const svg = (await Graphviz.load()).dot(dot);
  // Only the picture: no prologue, no size in points, no page colour.
  return svg
    .slice(svg.indexOf("<svg"))
    .replace(/(<svg width="[^"]*") height="[^"]*"/, '$1 aria-hidden="true" class="state-chart"')
    .replace(/<title>[^<]*<\/title>\n?/g, "");
}

/** The machine in graphviz's language. */
export function dotOf(machine: AnyStateMachine, current: string): string {
  const states = Object.keys(machine.root.states);
  const first = machine.root.initial.target[0]?.key ?? states[0] ?? "";
  const transitions = [...machine.root.transitions.values()].flat();
  const inner = transitions.filter(({ target }) => target === undefined);
  const moves = transitions.flatMap((transition) =>
    (transition.target ?? []).flatMap((target) =>
      states.map((from) => ({ from, to: target.key, label: labelOf(transition) })),
    ),
  );
  const nodes = states.map(
    (state) => `${quoted(state)} [class="state${state === current ? " current" : ""}"];`,
  );
  const edges = moves.map(
    ({ from, to, label }) => `${quoted(from)} -> ${quoted(to)} [label=${quoted(label)}];`,
  );
  const always = inner.map((transition) => `${labelOf(transition, " ")}\\l`).join("");
  return `digraph {
  rankdir=LR; bgcolor="transparent"; fontname="sans-serif"; fontsize=12; nodesep=0.5; ranksep=0.9;
  node [shape=box, style="rounded", fontname="sans-serif", fontsize=14, margin="0.25,0.12"];
  edge [fontname="sans-serif", fontsize=11, arrowsize=0.8];
  start [shape=point, width=0.14, class="start", label=""];
  subgraph cluster_machine {
    class="machine"; style="rounded"; margin=16; labeljust="l";
    label="${escaped(machine.id)}\\l${always === "" ? "" : `In every state:\\l${always}`}";
    ${nodes.join("\n    ")}
  }
  start -> ${quoted(first)};
  ${edges.join("\n  ")}
}`;
}

type Transition =
  AnyStateMachine["root"]["transitions"] extends Map<string, (infer T)[]> ? T : never;

/** `star [is last vote]`, and below it what it does. */
function labelOf(transition: Transition, separator = "\n"): string {
  const { eventType, guard, actions } = transition;
  const name =
    typeof guard === "string" ? guard : guard && "type" in guard ? String(guard.type) : "";
  const when = name === "" ? "" : ` [${spelled(name)}]`;
  const does = actions.map((action) =>
    spelled(typeof action === "string" ? action : "type" in action ? String(action.type) : ""),
  );
  return `${eventType}${when}${does.length === 0 ? "" : `${separator}→ ${does.join(", ")}`}`;
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll("\n", "\\n")}"`;
}

function escaped(text: string): string {
  return text.replace(/["\\]/g, "\\$&");
}
