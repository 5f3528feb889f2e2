import { type ErrorCode, StarboardError } from "./error.ts";
import { followLive, type LiveEvent, type LiveOptions } from "./live.ts";
import { type CallOptions, pathPart, readReply, type Send, urlOf } from "./request.ts";
import type { components, operations } from "./voting-openapi.ts";
import { wait } from "./wait.ts";

type Schemas = components["schemas"];

/** What is starred. */
export type StarTarget = Schemas["Star"]["target"];
export type Star = Schemas["Star"];
export type StarReply = Schemas["StarReply"];
export type Preview = Schemas["Preview"];
export type CurrentAllowance = Schemas["CurrentAllowance"];
export type Config = Schemas["Config"];
export type Session = Schemas["Session"];

/** What a list of items is asked by; `type` decides what its records are. */
export type ItemQuery = operations["listItems"]["parameters"]["query"];
interface Items {
  event: Schemas["Event"];
  token: Schemas["Token"];
  collection: Schemas["Collection"];
  project: Schemas["Project"];
}
export type ItemPage<T extends keyof Items> = Omit<Schemas["ItemPage"], "items"> & {
  readonly items: readonly Items[T][];
};

/** A wallet that signs a text. */
export interface Signer {
  /** `0.0.n`, or an EVM address. */
  readonly wallet: string;
  /** Signs the text as it stands: `hedera_signMessage` (`hip820`) or `personal_sign` (`eip191`). */
  sign(
    message: string,
  ): Promise<{ readonly scheme: "hip820" | "eip191"; readonly signature: string }>;
}

export interface VotingOptions {
  /** Where the service answers, without `/voting`; empty for a page of the service itself. */
  readonly baseUrl: string;
  /** Sends the requests; the platform's own `fetch` if absent. */
  readonly fetch?: Send;
  /** For pages of the service itself: the session is a cookie that no script reads. */
  readonly cookie?: boolean;
  /** Of a session that is open already. */
  readonly token?: string;
  readonly retry?: Partial<Retry>;
}

/** How `star` tries again. */
export interface Retry {
  /** How often it tries in all. */
  readonly attempts: number;
  /** Before the second try; then twice as long. */
  readonly waitMs: number;
  /** A refusal that asks for a longer wait is thrown at once. */
  readonly mostWaitMs: number;
}

export interface StarOptions extends CallOptions {
  /** Of an earlier call whose outcome is not known; a new one when absent. */
  readonly idempotencyKey?: string;
}

/** The voting API under `/voting`. Each function throws StarboardError for a refusal. */
export interface Voting {
  config(options?: CallOptions): Promise<Config>;
  /** One page of what can be starred. */
  items<T extends keyof Items>(
    query: ItemQuery & { readonly type: T },
    options?: CallOptions,
  ): Promise<ItemPage<T>>;
  /** Opens a session, which this client keeps. */
  signIn(signer: Signer, options?: CallOptions): Promise<Session>;
  /** Ends the session, which may have ended already; or all of the wallet's, which one that stands can. */
  signOut(options?: CallOptions & { readonly everywhere?: boolean }): Promise<void>;
  allowance(options?: CallOptions): Promise<CurrentAllowance>;
  /** What a star would carry now. */
  preview(target: StarTarget, options?: CallOptions): Promise<Preview>;
  /**
   * Casts a star. What is not answered, and 503, is sent again with the same Idempotency-Key. Of
   * what it throws, `mayStand` says whether the star may have been cast all the same.
   */
  star(target: StarTarget, options?: StarOptions): Promise<StarReply>;
  /** The wallet's stars of a UTC day, newest first; of today when absent. */
  stars(day?: string, options?: CallOptions): Promise<readonly Star[]>;
  /** A star with its publication; needs no session. */
  receipt(id: string, options?: CallOptions): Promise<Star>;
  /** Counters as they change, until the signal aborts or the caller stops asking. */
  live(options?: LiveOptions): AsyncGenerator<LiveEvent, void>;
}

/**
 * Makes a client of the voting API.
 *
 *     const starboard = voting({ baseUrl: "https://…" });
 *     await starboard.signIn(signer);
 *     const { star, allowance } = await starboard.star({ type: "token", id: "0.0.1001" });
 */
export function voting(options: VotingOptions): Voting {
  const { baseUrl, cookie = false, retry } = options;
  // Called by its name: a browser's `fetch` is a function of the window alone.
  const send: Send = options.fetch ?? ((...given) => fetch(...given));
  let { token } = options;

  const bearer = () => (token === undefined ? {} : { authorization: `Bearer ${token}` });
  const ask = <T>(
    path: string,
    { query, ...init }: RequestInit & { query?: object } = {},
  ): Promise<T> => {
    const headers = new Headers(init.headers ?? bearer());
    headers.set("accept", "application/json");
    if (init.body !== undefined) headers.set("content-type", "application/json");
    return readReply<T>(send, urlOf(baseUrl, `/voting${path}`, query), { ...init, headers });
  };
  const post = <T>(path: string, body: object, init: RequestInit = {}): Promise<T> =>
    ask(path, { ...init, method: "POST", body: JSON.stringify(body) });

  return {
    config: (given) => ask("/config", given),
    items: (query, given) => ask("/items", { ...given, query }),
    async signIn(signer, given) {
      const { wallet } = signer;
      const asked = await post<Schemas["Challenge"]>("/challenges", { wallet }, given);
      // Alone: what else a wallet returns is refused as an unknown field.
      const { scheme, signature } = await signer.sign(asked.message);
      const body = { challengeId: asked.id, scheme, signature, ...(cookie && { cookie }) };
      const session = await post<Session>("/sessions", body, given);
      token = session.token;
      return session;
    },
    async signOut({ everywhere = false, ...given } = {}) {
      const path = everywhere ? "/sessions" : "/sessions/current";
      const ending = token;
      await ask(path, { ...given, method: "DELETE" }).catch((error: unknown) => {
        // A proxy's 401 ends no session, nor does one for a token that a redirect lost.
        const ended = ending ? /^INVALID_SESSION$/ : /^(INVALID|MISSING)_SESSION$/;
        // Others of the wallet's may stand.
        if (everywhere || !(error instanceof StarboardError && ended.test(`${error.code}`)))
          throw error;
      });
      if (token === ending) token = undefined;
    },
    allowance: (given) => ask("/allowance", given),
    preview: ({ type, id }, given) => ask("/preview", { ...given, query: { type, id } }),
    async star({ type, id }, { idempotencyKey = newIdempotencyKey(), ...given } = {}) {
      // Before any try: no header can carry some keys, and all tries are one wallet's.
      const headers = new Headers({ "idempotency-key": idempotencyKey, ...bearer() });
      const cast = () => post<StarReply>("/stars", { target: { type, id } }, { ...given, headers });
      return persist(cast, retry, given.signal);
    },
    async stars(day, given) {
      return (await ask<Schemas["StarsOfDay"]>("/stars", { ...given, query: { day } })).stars;
    },
    receipt: async (id, given) => ask(`/stars/${pathPart(id)}`, given),
    live: (given) =>
      followLive({ send, url: urlOf(baseUrl, "/voting/live"), isOwn: !options.fetch }, given),
  };
}

/** Refusals that come after the look-up of the key: no star was cast with it. */
const DECIDED: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "ALLOWANCE_EXHAUSTED",
  "ALREADY_STARRED",
  "IDEMPOTENCY_KEY_REUSED",
  "NOT_FOUND",
]);

/**
 * Whether a star may have been cast though `star` threw this: nothing of ours was answered, or the
 * service does not know itself, or a gateway's code says nothing of it. The same Idempotency-Key
 * asks again.
 *
 * @param wasOpen whether the outcome of an earlier call with the key is not known
 */
export function mayStand(error: unknown, wasOpen = false): boolean {
  // Without a code it is a proxy's, which got no answer either.
  if (!(error instanceof StarboardError) || error.code === null) return true;
  if (error.status < 500) return wasOpen && !DECIDED.has(error.code);
  return wasOpen || !/^(HOLDINGS_UNAVAILABLE|JOURNAL_BEHIND)$/.test(error.code);
}

/** Tries again what was not answered, and what is out of reach for now. */
async function persist<T>(
  work: () => Promise<T>,
  { attempts = 5, waitMs = 500, mostWaitMs = 60_000 }: Partial<Retry> = {},
  signal?: AbortSignal,
): Promise<T> {
  let unanswered: unknown;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const isRefusal = error instanceof StarboardError;
      if (mayStand(error)) unanswered ??= error;
      const outcome = mayStand(error, unanswered !== undefined) ? unanswered : error;
      if (signal?.aborted) throw isRefusal ? outcome : error;
      if (isRefusal && error.status < 502) throw outcome;
      const asTold = isRefusal ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;
      if (attempt >= attempts || asTold > mostWaitMs) throw outcome;
      await wait(Math.max(asTold, waitMs * 2 ** (attempt - 1)), signal);
    }
  }
}

/** A key for one star: 128 random bits, also where there is no https and so no `crypto.randomUUID`. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
