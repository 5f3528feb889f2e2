/**
 * Measures what voters feel of a public mirror node: 100 ms an answer and 50 requests a second.
 * `npm run prove:mirror [-- stars together large audit]`. Prints figures; the goals stand beside them, and the exit status is that of the
 * counts (refused stars, requests over the rate): 1 where one is not met, 2 where stars are refused
 * without the flood too, on a machine that is too busy. A time is a matter of the machine.
 *
 * stars     while 12 clients flood challenges within their limits, beside stars without the flood
 * together  60 stars that begin together
 * large     a wallet of 20,000 NFTs, from a mirror node without a limit
 * audit     by the rate it is given
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { StarboardError } from "../../packages/client/src/index.ts";
import { runAudit } from "../../src/audit/audit.ts";
import { openAuditMirror } from "../../src/audit/audit-mirror.ts";
import type { SigningWallet } from "../../src/cli/demo-wallet.ts";
import { silentLogger } from "../../src/log.ts";
import { A, B, KEYS } from "../audit/world.ts";
import { cast, newWallet, type Service, send, signIn, startService } from "../support/service.ts";

const ANSWER_MS = 100;
const REQUESTS_PER_SECOND = 50;
const NFTS_OF_LARGE_WALLET = 20_000;
const FLOOD_CLIENTS = 12;
/** `VOTING_RATE_LIMIT` as it stands by default: what each client of the flood may ask a minute. */
const FLOOD_PER_CLIENT_AND_MINUTE = 300;
const STARS_PER_ROUND = 60;
/** Three requests a star at most: well below the mirror node's rate. */
const STAR_EVERY_MS = 160;
const ROUNDS = 3;
const TOGETHER = 60;
const AUDITED_MESSAGES = 10_000;

/** A mirror node far away: each answer takes its time, and what comes too fast gets 429. */
interface FarMirror {
  readonly url: string;
  /** Where the real one is. */
  target: string;
  isLimited: boolean;
  /** What it has answered before costs it nothing: another machine's work is not ours to measure. */
  kept: Map<string, string> | null;
  asked: number;
  refused: number;
  /** The most it was asked within any second. */
  most: number;
  close(): Promise<void>;
}

async function startFarMirror(): Promise<FarMirror> {
  let recent: number[] = [];
  let [left, at] = [REQUESTS_PER_SECOND, performance.now()];
  const server = createServer(async (request, response) => {
    const now = performance.now();
    far.asked += 1;
    recent = [...recent.filter((earlier) => now - earlier < 1_000), now];
    far.most = Math.max(far.most, recent.length);
    left = Math.min(REQUESTS_PER_SECOND, left + ((now - at) * REQUESTS_PER_SECOND) / 1_000);
    at = now;
    const isOver = far.isLimited && left < 1;
    // Requests without a limit do not count once there is one.
    if (!isOver) left = Math.max(0, left - 1);
    await delay(ANSWER_MS);
    if (isOver) {
      far.refused += 1;
      response.writeHead(429, { "content-type": "text/html" }).end("<h1>429</h1>");
      return;
    }
    const path = request.url ?? "";
    const kept = far.kept?.get(path);
    const answer = kept === undefined ? await fetch(far.target + path) : undefined;
    const text = kept ?? (await answer?.text()) ?? "";
    if (answer?.status === 200) far.kept?.set(path, text);
    response.writeHead(answer?.status ?? 200, { "content-type": "application/json" }).end(text);
  });
  server.listen(0, "127.0.0.2");
  await once(server, "listening");
  const far: FarMirror = {
    url: `http://127.0.0.2:${(server.address() as AddressInfo).port}`,
    target: "",
    isLimited: false,
    kept: null,
    asked: 0,
    refused: 0,
    most: 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return far;
}

let failures = 0;
let isTooBusy = false;
function print(line: string, isMet: boolean | null = null): void {
  if (isMet === false) failures += 1;
  const mark = isMet === null ? "" : isMet ? "  met" : "  NOT MET";
  process.stdout.write(`${line}${mark}\n`);
}

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

/** Voters that are signed in, each for one star; signing in is not what is measured. */
async function signedIn(service: Service, far: FarMirror, count: number): Promise<string[]> {
  far.isLimited = false;
  const tokens: string[] = [];
  while (tokens.length < count) {
    const some = Array.from({ length: Math.min(12, count - tokens.length) }, async () =>
      signInPatiently(service, await newWallet(service, { a: 1 })),
    );
    tokens.push(...(await Promise.all(some)));
  }
  await delay(1_000);
  far.isLimited = true;
  return tokens;
}

/** A busy machine answers some sign-ins too late. */
async function signInPatiently(service: Service, wallet: SigningWallet): Promise<string> {
  for (;;) {
    try {
      return await signIn(service, wallet);
    } catch (error) {
      if (!(error instanceof StarboardError) || error.status !== 503) throw error;
      await delay(1_000);
    }
  }
}

interface Round {
  readonly refused: readonly string[];
  readonly p50: number;
}

/** One star after the other by a clock of its own, whatever becomes of those before. */
async function starSteadily(service: Service, tokens: readonly string[]): Promise<Round> {
  const refused: string[] = [];
  const times: number[] = [];
  const stars = tokens.map(async (token, n) => {
    await delay(n * STAR_EVERY_MS);
    const startedAt = performance.now();
    const { status, text } = await cast(service, token, `token/0.0.${9_001 + (n % 40)}`);
    times.push(performance.now() - startedAt);
    if (status !== 201) refused.push(text);
  });
  await Promise.all(stars);
  return { refused, p50: median(times) };
}

/**
 * Clients that ask for challenges, and answer them with invalid signatures, as fast as they may.
 *
 * @returns a function that ends it and says how often they asked, and how many challenges they got
 */
function flood(
  service: Service,
  wallets: readonly string[],
): () => Promise<readonly [asked: number, given: number]> {
  let isOn = true;
  let [asked, given] = [0, 0];
  const clients = Array.from({ length: FLOOD_CLIENTS }, async (_, n) => {
    const headers = { "x-forwarded-for": `10.9.0.${n + 1}` };
    while (isOn) {
      const json = { wallet: wallets[asked % wallets.length] };
      const { status, body } = await send(service, "POST /voting/challenges", { json, headers });
      if (status === 201) given += 1;
      const signed = { challengeId: body?.id, signature: "AAAA" };
      await send(service, "POST /voting/sessions", { json: signed, headers });
      asked += 2;
      await delay((2 * 60_000) / FLOOD_PER_CLIENT_AND_MINUTE);
    }
  });
  return async () => {
    isOn = false;
    await Promise.all(clients);
    return [asked, given];
  };
}

async function stars(service: Service, far: FarMirror): Promise<void> {
  const victims = await Promise.all(Array.from({ length: 50 }, () => newWallet(service)));
  const [quiet, loud]: [Round[], Round[]] = [[], []];
  let [asked, given] = [0, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    quiet.push(await starSteadily(service, await signedIn(service, far, STARS_PER_ROUND)));
    const tokens = await signedIn(service, far, STARS_PER_ROUND);
    const end = flood(
      service,
      victims.map(({ id }) => id),
    );
    loud.push(await starSteadily(service, tokens));
    const [more, challenges] = await end();
    asked += more;
    given += challenges;
  }
  const p50 = (rounds: readonly Round[]): number => median(rounds.map((round) => round.p50));
  const refused = loud.flatMap((round) => round.refused);
  const all = ROUNDS * STARS_PER_ROUND;
  print(
    `stars: flood of ${asked} requests by ${FLOOD_CLIENTS} clients, ${given} challenges given`,
    given > 0,
  );
  print(`   stars refused: ${refused.length} of ${all} (goal 0)`, refused.length === 0);
  const anyway = quiet.flatMap((round) => round.refused).length;
  isTooBusy ||= anyway > 0;
  print(`   without it: ${anyway} of ${all}`);
  for (const text of new Set(refused)) print(`   ${text}`);
  const ratio = p50(loud) / p50(quiet);
  print(
    `   p50 ${p50(quiet).toFixed(0)} ms without, ${p50(loud).toFixed(0)} ms with: ${ratio.toFixed(2)} × (goal ≤ 2)`,
  );
}

async function largeWallet(service: Service, far: FarMirror): Promise<void> {
  far.isLimited = false;
  const wallet = await newWallet(service);
  for (let minted = 0; minted < NFTS_OF_LARGE_WALLET; minted += 1_000) {
    await service.hedera.ledger.mint(service.collectionA, { count: 1_000, to: wallet.id });
  }
  const token = await signInPatiently(service, wallet);
  far.kept = new Map();
  for (let looks = 0; looks < 10; looks += 1) {
    const path = "GET /voting/preview?type=token&id=0.0.9001";
    if ((await send(service, path, { token })).status === 200) break;
  }
  far.asked = 0;
  const startedAt = performance.now();
  const { status, body } = await cast(service, token, "token/0.0.9001");
  const ms = performance.now() - startedAt;
  far.kept = null;
  const weight = body.star?.weight;
  const isMet = status === 201 && weight === NFTS_OF_LARGE_WALLET + 1;
  print(
    `large: a wallet of ${NFTS_OF_LARGE_WALLET} NFTs: ${status}, weight ${weight}, ${ms.toFixed(0)} ms, ${far.asked} requests`,
    isMet,
  );
}

async function together(service: Service, far: FarMirror): Promise<void> {
  const tokens = await signedIn(service, far, TOGETHER);
  far.refused = 0;
  const startedAt = performance.now();
  const replies = await Promise.all(
    tokens.map((token, n) => cast(service, token, `token/0.0.${9_001 + (n % 40)}`)),
  );
  const ms = performance.now() - startedAt;
  const accepted = replies.filter(({ status }) => status === 201).length;
  print(
    `together: ${TOGETHER} stars that begin together: ${accepted} accepted, the last after ${ms.toFixed(0)} ms, ${far.refused} × 429 on the way`,
    accepted === TOGETHER,
  );
}

/** Behind a node of its own, which no service asks meanwhile. */
async function audit(): Promise<void> {
  const far = await startFarMirror();
  const entry = fileURLToPath(new URL("../bench/audit-mirror.ts", import.meta.url));
  const child = spawn(
    process.execPath,
    ["--import", "tsx", entry, String(AUDITED_MESSAGES), "400"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  try {
    const [url] = await once(child.stdout, "data");
    Object.assign(far, { target: String(url).trim(), isLimited: true });
    const mirror = openAuditMirror({
      urls: [far.url],
      log: silentLogger,
      requestsPerSecond: REQUESTS_PER_SECOND,
    });
    const startedAt = performance.now();
    const { ok, checked } = await runAudit({
      mirror,
      topics: { event: ["0.0.8001"], asset: ["0.0.8002"] },
      collections: { a: A, b: B },
      keys: KEYS,
      excluded: [],
      day: null,
      exports: null,
      api: null,
      lateMs: 24 * 3_600_000,
      settleMs: 0,
      stateFile: null,
      now: Date.now,
      onProgress: () => undefined,
    });
    const seconds = (performance.now() - startedAt) / 1_000;
    await mirror.close();
    print(
      `audit of ${checked.messages} messages (ok: ${ok}): ${far.asked} requests in ${seconds.toFixed(1)} s, at most ${far.most} in any second, ${far.refused} × 429 (goal ≤ ${REQUESTS_PER_SECOND}, 0)`,
      ok &&
        checked.messages === AUDITED_MESSAGES &&
        far.refused === 0 &&
        far.most <= REQUESTS_PER_SECOND,
    );
  } finally {
    child.kill();
    await far.close();
  }
}

const parts = { stars, together, large: largeWallet, audit };
const asked = process.argv.slice(2);
const unknown = asked.find((name) => !Object.hasOwn(parts, name));
if (unknown !== undefined) {
  process.stderr.write(`there is no part ${unknown}; parts are ${Object.keys(parts).join(", ")}\n`);
  process.exit(2);
}
const far = await startFarMirror();
const service = await startService({
  MIRROR_NODE_URL: far.url,
  TRUSTED_PROXIES: "127.0.0.0/8,::1",
});
far.target = service.hedera.mirrorUrl;
try {
  for (const [name, measure] of Object.entries(parts)) {
    if (asked.length === 0 || asked.includes(name)) await measure(service, far);
  }
  const [load] = loadavg();
  print(`load of the machine: ${load?.toFixed(1)}`);
} finally {
  await service.close();
  await far.close();
}
process.exitCode = isTooBusy ? 2 : failures === 0 ? 0 : 1;
