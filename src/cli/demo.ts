import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Star } from "../../packages/client/src/index.ts";
import { ownUrl } from "../addresses.ts";
import { demoDirectory } from "../local/demo-directory.ts";
import { readKept } from "../local/demo-ledger.ts";
import { option } from "./arguments.ts";
import { castOrCode, demoVoting } from "./demo-voting.ts";
import { type SigningWallet, schemeOf, signerOf } from "./demo-wallet.ts";
import { command } from "./output.ts";
import { readFoundSettings } from "./settings.ts";

/** "Can land a few seconds later": a minute means that something is wrong. */
export const PUBLISHED_WITHIN_MS = 60_000;
/** By default a client may ask 300 times in that minute. */
export const POLL_EVERY_MS = 500;

/** `npm run demo`: a small voting client with keys of its own, over plain HTTP. */
export const subcommand = command({
  args: {
    url: option("The service; default: the running `npm start`."),
  },
  async work({ url }) {
    const site = (url ?? ownUrl(readFoundSettings(["DATABASE_URL"]))).replace(/\/$/, "");
    return waitForLedger(site, await castFirstPossible(site));
  },
  text: (receipt) => JSON.stringify(receipt, null, 2),
});

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function demoWallets(): readonly SigningWallet[] {
  const demo = readKept(join(".starboard", "ledger.json"));
  if (demo === undefined) throw new Error("no demo wallets here: run `npm start` first");
  return demo.wallets;
}

function targets(): readonly string[] {
  const { tokens, events } = demoDirectory(0, ["0.0.1", "0.0.2"]);
  return [...tokens.map(({ id }) => `token/${id}`), ...events.map(({ id }) => `event/${id}`)];
}

/**
 * A wallet's votes of the day end, and it stars an item once: the demo goes on to the next one. Whatever
 * else is refused, no other star would pass either.
 */
async function castFirstPossible(site: string): Promise<Star> {
  const wanted = targets();
  let refusal = "";
  for (const wallet of demoWallets()) {
    const client = demoVoting(site);
    await client.signIn(signerOf(wallet));
    say(`signed in as ${wallet.id} (${wallet.type}, ${schemeOf(wallet)})`);
    for (const target of wanted) {
      const outcome = await castOrCode(client, target);
      if (outcome.star !== undefined) {
        const { weight, votingPower, id } = outcome.star;
        say(`starred   ${target}: weight ${weight}, voting power ${votingPower}, star ${id}`);
        return outcome.star;
      }
      refusal = `${target}: ${outcome.code}`;
      say(`refused   ${refusal}`);
      if (outcome.code === "ALLOWANCE_EXHAUSTED") break;
      if (!TRIES_NEXT.has(outcome.code ?? "")) throw noStar(refusal);
    }
  }
  throw noStar(refusal);
}

const TRIES_NEXT: ReadonlySet<string> = new Set(["ALREADY_STARRED", "NOT_FOUND"]);

function noStar(refusal: string): Error {
  return new Error(`no star could be cast; the last answer was ${refusal}`);
}

async function waitForLedger(site: string, stored: Star): Promise<Star> {
  const client = demoVoting(site);
  const startedAt = performance.now();
  let state = "";
  while (performance.now() - startedAt < PUBLISHED_WITHIN_MS) {
    const receipt = await client.receipt(stored.id);
    const { publication } = receipt;
    if (publication.state !== state) {
      state = publication.state;
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
      say(`${state.padEnd(9)} after ${seconds} s`);
    }
    if (publication.state === "published") {
      say(
        `receipt   message ${publication.sequenceNumber} of topic ${publication.topicId}, ` +
          `consensus at ${publication.consensusTimestamp}`,
      );
      return receipt;
    }
    await pause(POLL_EVERY_MS);
  }
  throw new Error(`the star is stored, but was not seen on the ledger within a minute (${state})`);
}
