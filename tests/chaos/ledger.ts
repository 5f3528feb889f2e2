import { fork } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import type { SigningWallet } from "../../src/cli/demo-wallet.ts";
import { NODE_FLAGS, scriptOf } from "../support/script.ts";

/** Where the ledger is, and what it was started with. */
export interface LedgerPlace {
  readonly operatorId: string;
  readonly operatorKey: string;
  readonly collectionA: string;
  readonly collectionB: string;
  readonly topics: { readonly event: string; readonly asset: string };
  readonly mirrorUrl: string;
  readonly nodes: readonly { readonly address: string; readonly account: string }[];
}

/** A wallet and the serials that it was given. */
export interface LedgerWallet extends SigningWallet {
  readonly A: readonly number[];
  readonly B: readonly number[];
}

export type LedgerOrder =
  | {
      readonly do: "wallets";
      readonly holdings: readonly { readonly a: number; readonly b: number }[];
    }
  /** Sets its clock so far from this machine's. */
  | { readonly do: "time"; readonly offsetMs: number }
  | {
      readonly do: "transfer";
      readonly collection: "A" | "B";
      readonly serial: number;
      readonly to: string;
    };

/** The ledger's process. */
export interface Ledger {
  readonly place: LedgerPlace;
  wallets(
    holdings: readonly { readonly a: number; readonly b: number }[],
  ): Promise<readonly LedgerWallet[]>;
  order(order: LedgerOrder): Promise<void>;
  close(): Promise<void>;
}

/** Starts it on a folder of its own, with everything that it ever held. */
export async function startLedger(folder: string, offsetMs: number): Promise<Ledger> {
  const script = scriptOf(new URL("./ledger-process.ts", import.meta.url));
  const child = fork(script, [folder, String(offsetMs)], {
    execArgv: [...NODE_FLAGS],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  child.stderr?.pipe(createWriteStream(join(folder, "stderr.log"), { flags: "a" }));
  type Reply = { readonly id: number; readonly result?: unknown; readonly error?: string };
  const waiting = new Map<number, (reply: Omit<Reply, "id">) => void>();
  child.on("message", (reply: Reply) => {
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  child.once("exit", (code, signal) => {
    const error = `the ledger's process ended: ${signal ?? code}`;
    for (const settle of waiting.values()) settle({ error });
  });
  const answerOf = (id: number): Promise<unknown> =>
    new Promise((resolve, reject) => {
      waiting.set(id, ({ result, error }) =>
        error === undefined ? resolve(result) : reject(new Error(error)),
      );
    });
  let asked = 0;
  const ask = (order: LedgerOrder): Promise<unknown> => {
    asked += 1;
    const answer = answerOf(asked);
    const id = asked;
    child.send({ id, order }, (error) => {
      if (error !== null) waiting.get(id)?.({ error: error.message });
    });
    return answer;
  };
  return {
    place: (await answerOf(0)) as LedgerPlace,
    wallets: (holdings) => ask({ do: "wallets", holdings }) as Promise<readonly LedgerWallet[]>,
    order: async (order) => void (await ask(order)),
    async close() {
      if (!child.connected) return;
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}
