import type { Carried } from "../words.ts";
import type { Refusal } from "./refusals.ts";

/** What is left of today's votes. */
export interface Allowance {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  readonly resetsAt: string;
}

export interface Preview extends Carried {
  readonly alreadyStarred: boolean;
  readonly allowance: Allowance;
}

export interface CastStar {
  readonly star: { readonly id: string; readonly weight: number };
  readonly counter: { readonly totalVotes: number };
  readonly allowance: Allowance;
}

export interface Publication {
  readonly state: "stored" | "submitted" | "published";
  readonly topicId: string | null;
  readonly transactionId: string | null;
  readonly sequenceNumber: number | null;
  readonly consensusTimestamp: string | null;
  readonly runningHash: string | null;
}

export interface Config {
  readonly network: string;
  readonly mirrorNodeUrl: string | null;
  readonly explorerUrl: string | null;
  readonly demoWallets: boolean;
  readonly walletConnectProjectId: string | null;
}

/** The service said no. */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.code);
    this.refusal = refusal;
  }
}

/** @throws Refused, or TypeError where no answer comes */
async function ask<T>(method: string, path: string, json?: object, key?: string): Promise<T> {
  const response = await fetch(path, {
    method,
    headers: {
      Accept: "application/json",
      ...(json !== undefined && { "Content-Type": "application/json" }),
      ...(key !== undefined && { "Idempotency-Key": key }),
    },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  });
  const body = response.status === 204 ? {} : await response.json().catch(() => ({}));
  if (response.ok) return body as T;
  const { code = response.status === 405 ? "METHOD_NOT_ALLOWED" : "INTERNAL", ...rest } = body;
  const seconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
  throw new Refused({
    code,
    ...rest,
    ...(Number.isFinite(seconds) && { retryAfterSeconds: seconds }),
  });
}

/** @param key `<type>/<id>` */
function targetOf(key: string): { readonly type: string; readonly id: string } {
  const [type = "", id = ""] = key.split("/");
  return { type, id };
}

/** The voting API as these pages use it; the session is their cookie. */
export const service = {
  preview: (key: string): Promise<Preview> =>
    ask("GET", `/voting/preview?${new URLSearchParams(targetOf(key))}`),
  star: (key: string, idempotencyKey: string): Promise<CastStar> =>
    ask("POST", "/voting/stars", { target: targetOf(key) }, idempotencyKey),
  readStar: (id: string): Promise<{ readonly publication: Publication }> =>
    ask("GET", `/voting/stars/${id}`),
  config: (): Promise<Config> => ask("GET", "/voting/config"),
  challenge: (wallet: string): Promise<{ readonly id: string; readonly message: string }> =>
    ask("POST", "/voting/challenges", { wallet }),
  openSession: (signed: {
    readonly challengeId: string;
    readonly scheme: string;
    readonly signature: string;
  }): Promise<unknown> => ask("POST", "/voting/sessions", { ...signed, cookie: true }),
  signOut: (): Promise<unknown> => ask("DELETE", "/voting/sessions/current"),
};
