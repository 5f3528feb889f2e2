import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DAY_MS, dayOf, startOfDay } from "../../actors/day.ts";
import {
  chainHash,
  type ExportEntry,
  type ExportLine,
  exportFooter,
  GENESIS,
  lineText,
} from "../../src/journal/export-format.ts";
import { A, B, KEYS, type Move, PAYER, type World } from "./world.ts";

/** A mirror node and a public API over a made-up world. */
export interface Served {
  readonly url: string;
  /** Paths asked for, with queries. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** How the service lies, and where its exports are. */
export interface Serving {
  /** A folder of exports, served under `/exports`. */
  readonly exports?: string;
  /** Sends an export instead; where it returns false, the file is sent. */
  readonly onExport?: (day: string, text: string, response: ServerResponse) => boolean;
  /** Forges an answer of the API, the list of exports among them. */
  readonly onAnswer?: (path: string, body: unknown) => unknown;
  /** Forges the date of the API's answers. */
  readonly dated?: () => Date;
}

const HOUR_MS = 3_600_000;

export async function serveWorld(world: World, serving: Serving = {}): Promise<Served> {
  const { exports, onAnswer = (_, given) => given, dated } = serving;
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://world");
    asked.push(request.url ?? "");
    const [, first, day] = url.pathname.split("/");
    const isOurs = first === "v1" || first === "exports";
    if (isOurs && dated !== undefined) response.setHeader("date", dated().toUTCString());
    if (exports !== undefined && first === "exports" && day !== undefined) {
      const file = join(exports, `${day}.ndjson`);
      if (existsSync(file)) {
        const text = readFileSync(file, "utf8");
        if (serving.onExport?.(day, text, response) !== true) response.end(text);
        return;
      }
    }
    const isList = exports !== undefined && url.pathname === "/exports";
    const given = isList ? { exports: listOf(exports) } : answer(world, url);
    const body = isOurs ? onAnswer(url.pathname, given) : given;
    // The number of an account beyond 38 bits is no parameter.
    const missing = /\/0\.0\.(?:\d{13,}|[3-9]\d{11})/.test(url.pathname) ? 400 : 404;
    response.writeHead(body === undefined ? missing : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? { _status: { messages: [{ message: "Not found" }] } }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.2", resolve));
  return {
    url: `http://127.0.0.2:${(server.address() as AddressInfo).port}`,
    asked,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function answer(world: World, url: URL): unknown {
  const [, , , kind, id = "", part, serial, last] = url.pathname.split("/");
  if (url.pathname.startsWith("/v1/")) return ranking(world, url.pathname.slice(4), url);
  if (kind === "topics") return part === "messages" ? messages(world, id, url) : topicOf(world, id);
  if (kind === "transactions") return transactions(world, url);
  if (kind === "accounts") {
    return world.accounts.has(id) ? { account: id, deleted: false, key: null } : undefined;
  }
  if (kind === "tokens" && last === "transactions") {
    return history(world.nfts[id]?.get(Number(serial)) ?? []);
  }
  if (kind === "tokens" && part === "nfts") return owners(world, id, url);
  if (kind === "tokens") return tokenOf(world, id);
  return undefined;
}

function topicOf({ topics }: World, id: string) {
  if (topics.event.id !== id && topics.asset.id !== id) return undefined;
  const keys = { admin_key: null, submit_key: null, fee_schedule_key: null };
  return { topic_id: id, ...keys, custom_fees: { fixed_fees: [] }, memo: "", deleted: false };
}

function tokenOf({ nfts }: World, id: string) {
  if (nfts[id] === undefined) return undefined;
  return { token_id: id, type: "NON_FUNGIBLE_UNIQUE", total_supply: "0", deleted: false };
}

function messages(world: World, id: string, url: URL) {
  const topic = Object.values(world.topics).find((each) => each.id === id);
  const after = Number(/^gt:(\d+)$/.exec(url.searchParams.get("sequencenumber") ?? "")?.[1] ?? 0);
  const all = topic?.messages ?? [];
  const limit = Math.min(100, Number(url.searchParams.get("limit") ?? 25));
  const isNewest = url.searchParams.get("order") === "desc";
  // Sequence numbers rise, but a forged topic may leave some out.
  const begin = all.findIndex(({ sequence }) => sequence > after);
  const rows = isNewest ? all.slice(-limit) : begin === -1 ? [] : all.slice(begin, begin + limit);
  return {
    messages: rows.map(({ sequence, consensus, text, hash }) => ({
      chunk_info: {
        initial_transaction_id: { account_id: PAYER, transaction_valid_start: consensus },
        number: 1,
        total: 1,
      },
      consensus_timestamp: consensus,
      message: Buffer.from(text).toString("base64"),
      payer_account_id: PAYER,
      running_hash: hash,
      running_hash_version: 3,
      sequence_number: sequence,
      topic_id: id,
    })),
    links: {
      next: rows.length === limit ? `${url.pathname}?limit=${limit}&timestamp=gt:1.0` : null,
    },
  };
}

const inOrder = new WeakMap<World, World["topics"]["event"]["messages"]>();

/** The transactions that carried the messages of both topics, with their memos. */
function transactions(world: World, url: URL) {
  const all =
    inOrder.get(world) ??
    Object.values(world.topics)
      .flatMap((topic) => topic.messages)
      .sort((one, other) => (one.consensus < other.consensus ? -1 : 1));
  inOrder.set(world, all);
  const bounds = url.searchParams.getAll("timestamp").map((each) => each.split(":"));
  const bound = (name: string): string => bounds.find(([kind]) => kind === name)?.[1] ?? "";
  const after = bound("gt");
  const from = bound("gte");
  const to = bound("lte");
  const rows = [];
  for (let at = firstFrom(all, after === "" ? from : after); rows.length < 100; at += 1) {
    const message = all[at];
    if (message === undefined || (to !== "" && message.consensus > to)) break;
    if (message.consensus === after) continue;
    rows.push({
      consensus_timestamp: message.consensus,
      transaction_id: `${PAYER}-${message.consensus.replace(".", "-")}`,
      memo_base64: Buffer.from(message.starId).toString("base64"),
    });
  }
  const last = rows.at(-1)?.consensus_timestamp;
  const next = `${url.pathname}?account.id=${PAYER}&limit=100&order=asc&timestamp=gt:${last}&timestamp=lte:${to}`;
  return { transactions: rows, links: { next: rows.length === 100 ? next : null } };
}

/** The place of the first message at or after an instant. */
function firstFrom(all: readonly { readonly consensus: string }[], from: string): number {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((all[middle]?.consensus ?? "") < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

function timestamp(at: number): string {
  return `${Math.floor(at / 1_000)}.${String((at % 1_000) * 1_000_000).padStart(9, "0")}`;
}

function history(moves: readonly Move[]) {
  const transactions = [...moves].reverse().map(({ at, type, sender, receiver }) => ({
    consensus_timestamp: timestamp(at),
    nonce: 0,
    transaction_id: `${PAYER}-${timestamp(at).replace(".", "-")}`,
    type,
    is_approval: false,
    sender_account_id: sender,
    receiver_account_id: receiver,
  }));
  return { transactions, links: { next: null } };
}

function owners(world: World, token: string, url: URL) {
  const after = Number(/^gt:(\d+)$/.exec(url.searchParams.get("serialnumber") ?? "")?.[1] ?? 0);
  const all = [...(world.nfts[token] ?? [])].filter(([serial]) => serial > after).slice(0, 100);
  const nfts = all.map(([serial, moves]) => {
    const last = moves.at(-1);
    return {
      account_id: last?.receiver ?? null,
      deleted: last?.receiver === null,
      modified_timestamp: timestamp(last?.at ?? 0),
      serial_number: serial,
      token_id: token,
    };
  });
  const next = nfts.at(-1)?.serial_number;
  const isFull = nfts.length === 100;
  return {
    nfts,
    links: { next: isFull ? `${url.pathname}?limit=100&order=asc&serialnumber=gt:${next}` : null },
  };
}

/** What the service's API says, from the stars alone. */
function ranking(world: World, path: string, url: URL): unknown {
  const now = Date.now();
  const hour = Math.floor(now / HOUR_MS);
  const since = (type: string, id: string, from: number): number =>
    world.stars
      .filter(
        ({ target, at }) => target.type === type && target.id === id && Date.parse(at) >= from,
      )
      .reduce((sum, { weight }) => sum + weight, 0);
  const rows = (type: string) =>
    world.items
      .filter((item) => item.type === type)
      .map(({ id, eventKind }) => {
        const lost = world.releases
          .filter(({ mint }) => type === "event" && mint === id)
          .reduce((sum, { weight }) => sum + weight, 0);
        const from = type === "event" ? 0 : startOfDay(dayOf(now));
        return {
          id,
          isForeverMint: eventKind === "FOREVER_MINT",
          totalVotes: since(type, id, from) - lost + (world.edits.get(`${type}/${id}`) ?? 0),
          votes7d: since(type, id, (hour - 7 * 24) * HOUR_MS),
          votes30d: since(type, id, (hour - 30 * 24) * HOUR_MS),
        };
      });
  const top = (type: string) =>
    rows(type)
      .sort(
        (one, other) =>
          other.totalVotes - one.totalVotes ||
          other.votes30d - one.votes30d ||
          Number(one.id.slice(4)) - Number(other.id.slice(4)),
      )
      .map((row, index) => ({ rank: index + 1, ...row }));
  if (path === "tokens/top") return { tokens: top("token") };
  if (path === "collections/top") return { collections: top("collection") };
  if (path === "leaderboard") return leaderboard(world, now);
  const offset = Number(url.searchParams.get("offset") ?? 0);
  const all = rows(path === "events" ? "event" : "project");
  const page = { total: all.length, hasMore: false };
  if (path === "ecosystem") return { projects: all.slice(offset), ...page };
  if (path === "events") return { events: all.slice(offset), ...page };
  return undefined;
}

/** A season from the second day until tomorrow; none in a world of one day. */
function leaderboard(world: World, now: number) {
  const startsAt = startOfDay(world.firstDay) + DAY_MS;
  if (startsAt > now) return { season: null, leaderboard: [] };
  const scores = new Map<
    string,
    { wallet: string; points: number; stars: number; weight: number }
  >();
  for (const { wallet, at, weight } of world.stars) {
    if (Date.parse(at) < startsAt) continue;
    const own = scores.get(wallet) ?? { wallet, points: 0, stars: 0, weight: 0 };
    scores.set(wallet, own);
    own.points += 1;
    own.stars += 1;
    own.weight += weight;
  }
  for (const own of scores.values())
    own.weight += world.edits.get(`leaderboard/${own.wallet}`) ?? 0;
  const number = (wallet: string) => Number(wallet.slice(4));
  const entries = [...scores.values()].sort(
    (one, other) => other.points - one.points || number(one.wallet) - number(other.wallet),
  );
  const endsAt = startOfDay(dayOf(now)) + DAY_MS;
  const season = {
    id: "season",
    startsAt: new Date(startsAt).toISOString(),
    endsAt: new Date(endsAt).toISOString(),
  };
  return { season, leaderboard: entries.map((entry, index) => ({ rank: index + 1, ...entry })) };
}

/** `GET /exports` of what lies in a folder. */
function listOf(folder: string): ExportEntry[] {
  const files = readdirSync(folder).sort();
  return files.map((name) => {
    const text = readFileSync(join(folder, name), "utf8");
    const footer = exportFooter.parse(JSON.parse(text.trimEnd().split("\n").at(-1) ?? ""));
    const { day, final, stars, releases, sha256, chain } = footer;
    return final
      ? { day, final, stars, releases, sha256, chain, bytes: Buffer.byteLength(text) }
      : { day, final, stars: null, releases: null, sha256: null, chain: null, bytes: null };
  });
}

/** Writes the day exports as the service would, into a folder. */
export function writeExports(world: World, folder: string, now = Date.now()): void {
  mkdirSync(folder, { recursive: true });
  let previous: string | null = GENESIS;
  for (let at = startOfDay(world.firstDay); at <= now; at += DAY_MS) {
    const day = dayOf(at);
    const isFinal: boolean = at + DAY_MS <= now;
    const stars = world.stars.filter((star) => dayOf(Date.parse(star.at)) === day);
    const releases = world.releases
      .filter((each) => dayOf(Date.parse(each.releasedAt)) === day)
      .sort(
        (one, other) =>
          one.mintOrder - other.mintOrder ||
          one.collection.localeCompare(other.collection) ||
          one.serial - other.serial,
      );
    const lines: ExportLine[] = [
      {
        kind: "header",
        format: 1,
        day,
        final: isFinal,
        network: "local",
        topics: { event: world.topics.event.id, asset: world.topics.asset.id },
        collections: { a: { id: A, key: KEYS.a }, b: { id: B, key: KEYS.b } },
        excludedWallets: [...(world.excludedOn?.get(day) ?? world.excluded)],
        xpPerStar: 1,
        previous: isFinal ? previous : null,
        ...(world.recovered?.includes(day) && { recovered: true as const }),
      },
      ...(world.apart.get(day) ?? []),
      ...stars,
      ...releases,
    ];
    const body = lines.map(lineText).join("");
    const sha256 = createHash("sha256").update(body).digest("hex");
    const chain: string | null = isFinal && previous !== null ? chainHash(previous, sha256) : null;
    const footer = lineText({
      kind: "footer",
      day,
      final: isFinal,
      stars: stars.length,
      weight: stars.reduce((sum, { weight }) => sum + weight, 0),
      releases: releases.length,
      unpublished: stars.filter(({ publication }) => publication.state !== "published").length,
      sequences: sequencesOf(stars),
      sha256,
      chain,
    });
    writeFileSync(join(folder, `${day}.ndjson`), body + footer);
    previous = chain;
  }
}

/** Where the day's stars stand on the topics. The ids of a world's topics are of one length. */
function sequencesOf(stars: World["stars"]) {
  const ids = new Set(stars.flatMap(({ publication }) => publication.topicId ?? []));
  return [...ids].sort().flatMap((topicId) => {
    const places = stars
      .filter(({ publication: { state, topicId: on } }) => state === "published" && on === topicId)
      .map(({ publication }) => publication.sequenceNumber ?? 0);
    if (places.length === 0) return [];
    const [first, last] = [Math.min(...places), Math.max(...places)];
    return [{ topicId, messages: places.length, first, last }];
  });
}
