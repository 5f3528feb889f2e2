import { createHash, randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { signIn } from "../support/service.ts";
import type { Member } from "./fleet.ts";
import type { History } from "./history.ts";
import type { LedgerWallet } from "./ledger.ts";

/** What the voters met, for the sums. */
export interface Figures {
  /** Attempts at a star. */
  calls: number;
  /** Of these, with 201. */
  accepted: number;
  /** By code or reason; attempts that were not accepted. */
  refused: Record<string, number>;
  /** Answers that took over 3.5 s, or never came, of processes without a fault meanwhile. */
  late: number;
  /** The slowest of these processes' answers, milliseconds. */
  slowestMs: number;
  /** Answers with a 5xx other than 503. */
  errors: string[];
}

export interface Voters {
  readonly figures: Figures;
  /** Resolves with the moment of the first star accepted of those asked for after this moment. */
  acceptedAfter(moment: number): Promise<number>;
  /** Lets no new call begin, and waits until none is under way. */
  hold(): Promise<void>;
  release(): void;
  /** Ends all calls under way: none is repeated, for the journal goes back. Waits for their attempts. */
  forgetCalls(): Promise<void>;
  stop(): Promise<void>;
}

type Web = Pick<Member, "url" | "isUp" | "disturbedAt">;

export interface VotersGiven {
  readonly webs: readonly Web[];
  readonly history: History;
  readonly targets: readonly string[];
  readonly draw: (below: number) => number;
  /** Between two stars of a client, on the average; 60 when absent. */
  readonly pauseMs?: number;
  /** A wallet that has votes left today and that no other client uses. */
  takeWallet(): Promise<Voter>;
}

export interface Voter extends LedgerWallet {
  readonly votes: number;
}

const VOTERS = 8;
const PAUSE_MS = 60;
const LATE_MS = 3_500;
/** A little longer than the service promises to answer: a stopped process keeps every call to it so long. */
const PATIENCE_MS = 4_000;
const ATTEMPTS_MAX = 40;
/** A client waits twice as long after each attempt that failed. */
const AGAIN_MS = 100;
const AGAIN_MS_MAX = 1_500;
/** As long as the service asks for, where it asks for a second or more. */
const RETRY_AFTER_MS = 1_000;
/** A balancer leaves a process out so long after it failed to answer. */
const LEFT_OUT_MS = 500;

/** Starts clients that vote until they are stopped. Each line of the history is on disk before what follows it. */
export function startVoters(given: VotersGiven): Voters {
  const { webs, history, targets, draw } = given;
  const figures: Figures = {
    calls: 0,
    accepted: 0,
    refused: {},
    late: 0,
    slowestMs: 0,
    errors: [],
  };
  const leftOut = new Map<Web, number>();
  let isStopped = false;
  let isHeld = false;
  let underWay = 0;
  let generation = 0;
  const attempts = new Set<Promise<unknown>>();
  let listeners: { readonly after: number; readonly hear: (at: number) => void }[] = [];

  const pick = (): Web => {
    const now = performance.now();
    const good = webs.filter((web) => (leftOut.get(web) ?? 0) < now);
    const from = good.length > 0 ? good : webs;
    return from[draw(from.length)] as Web;
  };
  const failed = (web: Web): void => void leftOut.set(web, performance.now() + LEFT_OUT_MS);

  /** One attempt. @returns what to do next */
  const attempt = async (
    token: string,
    call: { readonly key: string; readonly wallet: string; readonly target: string },
  ): Promise<"done" | "again" | "signed out"> => {
    const id = randomUUID();
    await history.add({ is: "invoke", attempt: id, ...call });
    const web = pick();
    const wasUp = web.isUp();
    const startedAt = performance.now();
    const reply = await post(web.url, token, call);
    const ms = performance.now() - startedAt;
    figures.calls += 1;
    const isFair = wasUp && web.disturbedAt() < startedAt;
    if (isFair && ms > LATE_MS) figures.late += 1;
    if (isFair && !("why" in reply)) figures.slowestMs = Math.max(figures.slowestMs, ms);
    if ("why" in reply) {
      failed(web);
      count(reply.why);
      const isSent = reply.why !== "ECONNREFUSED";
      await history.add(
        isSent
          ? { is: "unknown", attempt: id, why: reply.why }
          : { is: "fail", attempt: id, status: 0, code: reply.why },
      );
      return "again";
    }
    const { status, text } = reply;
    if (status === 201) {
      figures.accepted += 1;
      const { star } = JSON.parse(text) as {
        star: { id: string; at: string; day: string; weight: number };
      };
      const body = createHash("sha256").update(text).digest("hex");
      const { id: starId, day, weight } = star;
      await history.add({
        is: "ok",
        attempt: id,
        star: starId,
        day,
        at: Date.parse(star.at),
        weight,
        body,
      });
      hear(startedAt);
      return "done";
    }
    const code = codeOf(text) ?? String(status);
    count(code);
    if (status >= 500) {
      if (status !== 503) figures.errors.push(`${status} ${text.slice(0, 200)}`);
      await history.add({ is: "unknown", attempt: id, why: code });
      await pause(RETRY_AFTER_MS * Math.min(1, reply.retryAfter));
      return "again";
    }
    await history.add({ is: "fail", attempt: id, status, code });
    return status === 401 ? "signed out" : "done";
  };
  const count = (reason: string): void => {
    figures.refused[reason] = (figures.refused[reason] ?? 0) + 1;
  };
  const hear = (askedAt: number): void => {
    const now = performance.now();
    for (const { after, hear: tell } of listeners) if (askedAt >= after) tell(now);
    listeners = listeners.filter(({ after }) => askedAt < after);
  };

  const pauseBefore = (tries: number): Promise<void> =>
    pause(Math.min(AGAIN_MS_MAX, AGAIN_MS * 2 ** tries) / 2 + draw(AGAIN_MS));
  const openSession = async (voter: Voter): Promise<string> => {
    for (let tries = 0; !isStopped; tries += 1) {
      const web = pick();
      try {
        return await signIn(web, voter);
      } catch {
        failed(web);
        await pauseBefore(tries + 1);
      }
    }
    return "";
  };

  /**
   * Repeats a call under its key until it is answered; gives up where the journal was restored
   * meanwhile.
   */
  const cast = async (voter: Voter, session: { token: string }, target: string): Promise<void> => {
    const call = { key: randomUUID(), wallet: voter.id, target };
    const mine = generation;
    const isTwin = draw(12) === 0;
    for (let tries = 0; tries < ATTEMPTS_MAX && mine === generation; tries += 1) {
      const twins = Array.from({ length: isTwin ? 2 : 1 }, () => attempt(session.token, call));
      const both = Promise.all(twins);
      attempts.add(both);
      const ends = await both.finally(() => attempts.delete(both));
      if (ends.includes("done")) return;
      if (ends.includes("signed out")) session.token = await openSession(voter);
      else await pauseBefore(tries + 1);
      if (isStopped) return;
    }
  };

  const spendVotes = async (voter: Voter): Promise<void> => {
    const session = { token: await openSession(voter) };
    const starred: string[] = [];
    // Now and then one more than it has, which is refused.
    const wanted = voter.votes + (draw(4) === 0 ? 1 : 0);
    for (let n = 0; n < wanted && !isStopped; n += 1) {
      while (isHeld && !isStopped) await pause(20);
      const [again = ""] = starred;
      const isRepeat = again !== "" && draw(40) === 0;
      const target = isRepeat ? again : (targets[draw(targets.length)] as string);
      if (!isRepeat && starred.includes(target) && target !== "event/mint") continue;
      underWay += 1;
      try {
        await cast(voter, session, target);
      } finally {
        underWay -= 1;
      }
      starred.push(target);
      await pause(draw(2 * (given.pauseMs ?? PAUSE_MS)));
    }
  };
  const voting = Array.from({ length: VOTERS }, async () => {
    while (!isStopped) await spendVotes(await given.takeWallet());
  });
  return {
    figures,
    acceptedAfter: (moment) =>
      new Promise((resolve) => listeners.push({ after: moment, hear: resolve })),
    async hold() {
      isHeld = true;
      while (underWay > 0) await pause(10);
    },
    release() {
      isHeld = false;
    },
    async forgetCalls() {
      generation += 1;
      await Promise.allSettled(attempts);
    },
    async stop() {
      isStopped = true;
      isHeld = false;
      await Promise.all(voting);
    },
  };
}

type Answer =
  | { readonly status: number; readonly text: string; readonly retryAfter: number }
  | { readonly why: string };

async function post(
  url: string,
  token: string,
  { key, target }: { readonly key: string; readonly target: string },
): Promise<Answer> {
  const [type, id] = target.split("/");
  try {
    const reply = await fetch(`${url}/voting/stars`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "idempotency-key": key,
      },
      body: JSON.stringify({ target: { type, id } }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const retryAfter = Number(reply.headers.get("retry-after"));
    return { status: reply.status, text: await reply.text(), retryAfter };
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } };
    return { why: cause?.code ?? name };
  }
}

function codeOf(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { code?: string }).code;
  } catch {
    return undefined;
  }
}
