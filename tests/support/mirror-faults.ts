import { entityNumber } from "../../src/ledger/entity-id.ts";
import type { InterceptRequest } from "../../src/local/hedera/mirror-node.ts";
import { emptyState, evolve } from "../../src/local/hedera/state/evolve.ts";
import type { State } from "../../src/local/hedera/state/state.ts";
import { nanosOfMs, parseTimestamp } from "../../src/local/hedera/timestamps.ts";

/**
 * What can be wrong with a mirror node. Switched on and off while it runs:
 *
 * - `lag`: nothing of the last `ms` is visible yet
 * - `late-start`: has seen nothing before an instant: who was there then has no date of
 *   creation, `deleted` is null, and an NFT's history is partial (206)
 * - `replica-flip`: every second request is answered as of an earlier instant
 * - `fail`: answers this status; HTML where `html` is set, as a gateway's 429 is
 * - `hang`: never answers
 * - `garbage`: answers 200 with JSON that breaks off, or with the body given
 * - `foreign-next`: points `links.next` elsewhere
 */
export type MirrorFault = Aim &
  (
    | { readonly kind: "lag"; readonly ms: number }
    | { readonly kind: "late-start"; readonly since: string }
    | { readonly kind: "replica-flip"; readonly asOf: string }
    | {
        readonly kind: "fail";
        readonly status: number;
        readonly html?: boolean;
        readonly headers?: Readonly<Record<string, string>>;
      }
    | { readonly kind: "hang" }
    | { readonly kind: "garbage"; readonly body?: string }
    | { readonly kind: "foreign-next"; readonly url: string }
  );

interface Aim {
  /** Only requests whose path and query match; all when absent. */
  readonly path?: RegExp;
  /** How many requests it strikes; all of them when absent. */
  readonly times?: number;
}

export interface MirrorFaults {
  /** @returns takes the fault away again */
  inject(fault: MirrorFault): () => void;
  /** Takes all faults away. */
  heal(): void;
  /** Those that strike a request, each used up by one. */
  strike(path: string): readonly MirrorFault[];
}

export function noMirrorFaults(): MirrorFaults {
  let active: { readonly fault: MirrorFault; struck: number }[] = [];
  return {
    inject(fault) {
      const entry = { fault, struck: 0 };
      active.push(entry);
      return () => {
        active = active.filter((other) => other !== entry);
      };
    },
    heal() {
      active = [];
    },
    strike(path) {
      const hits = active.filter(({ fault }) => fault.path?.test(path) ?? true);
      for (const entry of hits) entry.struck += 1;
      active = active.filter(({ fault, struck }) => struck < (fault.times ?? Infinity));
      // The replica at the other end of the balancer answers the first request, not this one.
      return hits
        .filter(({ fault, struck }) => fault.kind !== "replica-flip" || struck % 2 === 0)
        .map(({ fault }) => fault);
    },
  };
}

/**
 * Spoils the requests that faults strike.
 *
 * @param now the ledger's clock, epoch milliseconds
 */
export function spoilRequests(faults: MirrorFaults, now: () => number): InterceptRequest {
  let past = emptyState();
  return async (path, state, answer) => {
    const struck = faults.strike(path);
    const spoiled = await spoil(struck);
    if (spoiled !== undefined) return spoiled;
    const [asOf] = struck.flatMap((fault) => instantOf(fault, now)).sort(ascending);
    if (asOf !== undefined) past = stateAsOf(asOf, state, past);
    const seen = asOf === undefined ? state : past;
    const late = struck.find((fault) => fault.kind === "late-start");
    if (late !== undefined) return withoutPast(path, seen, answer, parseTimestamp(late.since));
    const answered = answer(seen);
    const foreign = struck.find((fault) => fault.kind === "foreign-next");
    return foreign === undefined ? answered : redirected(answered, foreign.url);
  };
}

/** @param past goes on where it has not come so far yet */
function stateAsOf(asOf: bigint, { events }: State, past: State): State {
  const made = past.lastConsensus > asOf ? emptyState() : past;
  for (const event of events.slice(made.events.length)) {
    if (event.at > asOf) break;
    evolve(made, event);
  }
  return made;
}

const JSON_TYPE = { "content-type": "application/json; charset=utf-8" } as const;

async function spoil(struck: readonly MirrorFault[]): Promise<Response | undefined> {
  for (const fault of struck) {
    if (fault.kind === "hang") return new Promise(() => undefined);
    if (fault.kind === "garbage") {
      return new Response(fault.body ?? '{"nfts":[{"account_id":', { headers: JSON_TYPE });
    }
    if (fault.kind === "fail") {
      const { status, html = false, headers = {} } = fault;
      const messages = [{ message: `Failed with ${status}` }];
      const [body, type] = html
        ? [`<html><body><h1>${status}</h1></body></html>`, { "content-type": "text/html" }]
        : [JSON.stringify({ _status: { messages } }), JSON_TYPE];
      return new Response(body, { status, headers: { ...type, ...headers } });
    }
  }
  return undefined;
}

function instantOf(fault: MirrorFault, now: () => number): bigint[] {
  if (fault.kind === "lag") return [nanosOfMs(now() - fault.ms)];
  return fault.kind === "replica-flip" ? [parseTimestamp(fault.asOf)] : [];
}

function ascending(one: bigint, other: bigint): number {
  return one < other ? -1 : 1;
}

const NFT_HISTORY = /\/tokens\/([^/]+)\/nfts\/(\d+)\/transactions/;

/** What a node that began at `since` answers: it has not seen come what was there before. */
async function withoutPast(
  path: string,
  state: State,
  answer: (state: State) => Response,
  since: bigint,
): Promise<Response> {
  const [, token, serial] = NFT_HISTORY.exec(path) ?? [];
  const isSeen = ({ at }: { readonly at: bigint }) => at >= since;
  // Of an NFT's history it has the rows whose transactions it knows.
  const known = { ...state, transactions: state.transactions.filter(isSeen) };
  const answered = answer(token === undefined ? state : known);
  const body = (await answered.json()) as {
    created_timestamp?: string | null;
    deleted?: boolean | null;
    serial_number?: number;
    transactions?: readonly unknown[];
  };
  if (body.created_timestamp && parseTimestamp(body.created_timestamp) < since) {
    body.created_timestamp = null;
    // Of an NFT it is known all the same.
    if (body.serial_number === undefined) body.deleted ||= null;
  }
  const { nfts = [] } = (token && state.collections.get(entityNumber(token))) || {};
  const minted = nfts[Number(serial) - 1]?.[0];
  const isPartial = minted !== undefined && !isSeen(minted) && (body.transactions ?? []).length > 0;
  const { headers, status } = answered;
  return new Response(JSON.stringify(body), { status: isPartial ? 206 : status, headers });
}

async function redirected(answered: Response, next: string): Promise<Response> {
  const body = (await answered.clone().json()) as object;
  if (!("links" in body)) return answered;
  const headers = new Headers(answered.headers);
  headers.set("link", `<${next}>; rel="next"`);
  return new Response(JSON.stringify({ ...body, links: { next } }), {
    status: answered.status,
    headers,
  });
}
