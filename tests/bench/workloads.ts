/** What clients send, as a function of the number of the request. */
export type Workload =
  | StarWorkload
  /** The stars of another workload, as calls to Restate's objects (`peers/restate.ts`). */
  | { readonly kind: "restate"; readonly call: RestateCall; readonly stars: StarWorkload }
  /** The same request without end. */
  | {
      readonly kind: "get";
      readonly path: string;
      readonly headers: Readonly<Record<string, string>>;
    };

export type RestateCall = "walletDay" | "bareDay" | "bareItem";

/** Which wallet stars what. */
export type StarWorkload =
  /** Every star comes from a wallet never seen before, to one of 1,000 events. */
  | { readonly kind: "cold"; readonly first: number }
  /** Wallets take turns: five stars each, on every kind of target; four of five find them known. */
  | { readonly kind: "warm"; readonly first: number; readonly wallets: number }
  /** Every star comes from a new wallet, all to one forever mint. */
  | { readonly kind: "hot"; readonly first: number; readonly mint: string }
  /** Wallets and events at random: what a load balancer without stickiness sees. */
  | { readonly kind: "random"; readonly first: number; readonly wallets: number }
  /** Wallets star in rounds, another event each; the round is given, so it can be repeated. */
  | {
      readonly kind: "round";
      readonly first: number;
      readonly wallets: number;
      /** One round without end, or from the first on. */
      readonly round: number | null;
    };

export const EVENTS = 1_000;
/** Of each: tokens, collections, projects. */
export const ASSETS = 100;
/** Wallet numbers begin here: above what the local ledger gives to anyone. */
export const FIRST_WALLET = 1_000_001;
/** Tokens and collections of the directory begin here. */
export const FIRST_TOKEN = 10_001;
export const FIRST_COLLECTION = 20_001;

/** The two collection A serials of a wallet: no other wallet has them, so each star brings two fresh ones. */
export function serialsOf(wallet: number): readonly [number, number] {
  const index = wallet - FIRST_WALLET;
  return [2 * index + 1, 2 * index + 2];
}

/** A session token that needs no keeping: the wallet's number in 43 digits. */
export function tokenOf(wallet: number): string {
  return String(wallet).padStart(43, "0");
}

/** The bytes of request number `index`. */
export function requestOf(workload: Workload, index: number): string {
  if (workload.kind === "get") return get(workload.path, workload.headers);
  if (workload.kind === "restate") return callOf(workload.call, starOf(workload.stars, index));
  const { wallet, type, id } = starOf(workload, index);
  const body = `{"target":{"type":"${type}","id":"${id}"}}`;
  return post("/voting/stars", `Authorization: Bearer ${tokenOf(wallet)}\r\n`, body);
}

/** What the product looks up stands in the call: the wallet behind the session, holdings, time. */
function callOf(call: RestateCall, { wallet, type, id }: Star): string {
  const item = `${type}/${id}`;
  switch (call) {
    case "walletDay": {
      const [one, other] = serialsOf(wallet);
      const body = `{"target":{"type":"${type}","id":"${id}"},"collectionA":[${one},${other}],"at":${Date.now()}}`;
      return post(`/walletDay/${wallet}/star`, "", body);
    }
    case "bareDay":
      return post(`/bareDay/${wallet}/star`, "", `{"item":"${item}","at":${Date.now()}}`);
    case "bareItem":
      return post(`/bareItem/${encodeURIComponent(item)}/count`, "", `{"weight":3}`);
  }
}

function post(path: string, headers: string, body: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: bench\r\n${headers}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

function get(path: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\nHost: bench\r\n${lines.join("")}\r\n`;
}

interface Star {
  readonly wallet: number;
  readonly type: "event" | "token" | "collection" | "project";
  readonly id: string;
}

function starOf(workload: StarWorkload, index: number): Star {
  const { first } = workload;
  switch (workload.kind) {
    case "cold":
      return { wallet: first + index, type: "event", id: eventOf(index) };
    case "hot":
      return { wallet: first + index, type: "event", id: workload.mint };
    case "random":
      return {
        wallet: first + Math.floor(Math.random() * workload.wallets),
        type: "event",
        id: eventOf(Math.floor(Math.random() * EVENTS)),
      };
    case "round": {
      const round = workload.round ?? Math.floor(index / workload.wallets);
      const turn = index % workload.wallets;
      return { wallet: first + turn, type: "event", id: `e${1 + ((turn + round) % EVENTS)}` };
    }
    default: {
      const turn = index % workload.wallets;
      const round = Math.floor(index / workload.wallets);
      const wallet = first + Math.floor(round / WARM_ROUNDS) * workload.wallets + turn;
      return { wallet, ...warmTarget(round % WARM_ROUNDS, turn) };
    }
  }
}

/** A free wallet's day. */
export const WARM_ROUNDS = 5;

function warmTarget(round: number, turn: number): Omit<Star, "wallet"> {
  const asset = scatter(turn) % ASSETS;
  if (round === 0) return { type: "event", id: eventOf(turn) };
  if (round === 1) return { type: "token", id: `0.0.${FIRST_TOKEN + asset}` };
  if (round === 2) return { type: "project", id: `p${1 + asset}` };
  if (round === 3) return { type: "collection", id: `0.0.${FIRST_COLLECTION + asset}` };
  return { type: "event", id: eventOf(turn + 1) };
}

function eventOf(index: number): string {
  return `e${1 + (scatter(index) % EVENTS)}`;
}

/** Neighbours far apart, the same on every run. */
function scatter(index: number): number {
  return Math.imul(index, 2_654_435_761) >>> 8;
}
