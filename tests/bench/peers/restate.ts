import { createServer } from "node:http2";
import {
  createEndpointHandler,
  type ObjectContext,
  object,
  RestatePromise,
  TerminalError,
} from "@restatedev/restate-sdk";

/**
 * The wallet's day as virtual objects of Restate, in a process of its own that Restate's server
 * calls. What a web process in front would know is in the call: wallet, holdings, time. So
 * nothing but the object's own state is asked for.
 *
 *   walletDay  decides and answers as the product does: allowance, weight, the item's total
 *   item       the part of it that wallets share: serials that count, the total
 *   bareDay    no more than a wallet's day: how many stars, and of what
 *   bareItem   no more than an item's total
 */
export interface StarCall {
  readonly target: { readonly type: string; readonly id: string };
  /** Serials of collection A that the wallet holds. */
  readonly collectionA: readonly number[];
  readonly at: number;
}

interface Day {
  readonly day: string;
  readonly used: number;
  readonly items: readonly string[];
}

interface Counted {
  readonly counted: number;
  readonly totalVotes: number;
}

const LIMIT = 5;
const DAY_MS = 86_400_000;

// The SDK needs it at every call; Node has it from version 22 on.
Object.assign(Promise, {
  withResolvers: () => {
    const parts: Record<string, unknown> = {};
    parts.promise = new Promise((resolve, reject) => Object.assign(parts, { resolve, reject }));
    return parts;
  },
});

/** The day after one more star, or a refusal. */
async function decide(ctx: ObjectContext, item: string, at: number): Promise<Day> {
  const today = new Date(at).toISOString().slice(0, 10);
  const kept = await ctx.get<Day>("day");
  const { used, items }: Day = kept?.day === today ? kept : { day: today, used: 0, items: [] };
  if (items.includes(item)) throw new TerminalError("ALREADY_STARRED", { errorCode: 409 });
  if (used >= LIMIT) throw new TerminalError("ALLOWANCE_EXHAUSTED", { errorCode: 429 });
  return { day: today, used: used + 1, items: [...items, item] };
}

const item = object({
  name: "item",
  handlers: {
    /** Counts what no star of the day has counted before. */
    count: async (ctx: ObjectContext, { collectionA, at }: StarCall): Promise<Counted> => {
      const day = Math.floor(at / DAY_MS);
      const keys = collectionA.map((serial) => `${day}/A/${serial}`);
      const [total, ...taken] = await RestatePromise.all([
        ctx.get<number>("total"),
        ...keys.map((key) => ctx.get<number>(key)),
      ]);
      const free = keys.filter((_, index) => taken[index] === null);
      for (const key of free) ctx.set(key, 1);
      const totalVotes = (total ?? 0) + 1 + free.length;
      ctx.set("total", totalVotes);
      return { counted: free.length, totalVotes };
    },
  },
  // Its state grows with every star: all of it along with every call would cost more and more.
  options: { enableLazyState: true },
});

const walletDay = object({
  name: "walletDay",
  handlers: {
    star: async (ctx: ObjectContext, call: StarCall) => {
      const { target, collectionA, at } = call;
      const key = `${target.type}/${target.id}`;
      const next = await decide(ctx, key, at);
      const { counted, totalVotes } = await ctx.objectClient(item, key).count(call);
      ctx.set("day", next);
      const resetsAt = new Date((Math.floor(at / DAY_MS) + 1) * DAY_MS).toISOString();
      return {
        star: {
          id: ctx.rand.uuidv4(),
          wallet: `0.0.${ctx.key}`,
          target,
          at: new Date(at).toISOString(),
          day: next.day,
          votingPower: 1 + collectionA.length,
          weight: 1 + counted,
          breakdown: { base: 1, collectionA: counted, collectionB: 0 },
          holdings: { collectionA: collectionA.length, collectionB: 0 },
          publication: {
            state: "stored",
            topicId: null,
            transactionId: null,
            sequenceNumber: null,
            consensusTimestamp: null,
            runningHash: null,
          },
        },
        allowance: { limit: LIMIT, used: next.used, remaining: LIMIT - next.used, resetsAt },
        counter: { totalVotes },
      };
    },
  },
});

const bareDay = object({
  name: "bareDay",
  handlers: {
    star: async (ctx: ObjectContext, { item, at }: { item: string; at: number }) => {
      const next = await decide(ctx, item, at);
      ctx.set("day", next);
      return { used: next.used, remaining: LIMIT - next.used };
    },
  },
});

const bareItem = object({
  name: "bareItem",
  handlers: {
    count: async (ctx: ObjectContext, { weight }: { weight: number }) => {
      const total = ((await ctx.get<number>("total")) ?? 0) + weight;
      ctx.set("total", total);
      return { total };
    },
  },
});

const { port } = JSON.parse(process.argv[2] ?? "{}") as { port: number };
const services = [walletDay, item, bareDay, bareItem];
createServer(createEndpointHandler({ services })).listen(port, "127.0.0.1", () =>
  process.send?.("ready"),
);
