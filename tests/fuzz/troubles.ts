import * as assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import hapi from "@hashgraph/proto";
import { snapshotKey } from "../../src/hosting/snapshots.ts";
import type { ResponseCode } from "../../src/local/hedera/refusal.ts";
import type { MirrorFault } from "../support/mirror-faults.ts";
import type { ConsensusFault } from "../support/node-faults.ts";
import { type Dice, junk } from "./dice.ts";
import type { WireRequest } from "./wire.ts";
import type { Voter, World } from "./world.ts";

/** What is odd behind the service: the answers of the mirror node, of the ledger and of Redis. */

type Body = MirrorFault & { readonly path: RegExp };

/** A mirror node's answers about one wallet, spoilt until the function returned is called. */
export function spoilMirror(random: Dice, { service }: World, { id }: Voter): () => void {
  const path = new RegExp(`/${id.replaceAll(".", "\\.")}(/|\\?)`);
  const garbage = (body: unknown): Body => ({
    kind: "garbage",
    path,
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const nft = { token_id: service.collectionA, serial_number: 1, account_id: id, deleted: false };
  const links = { next: null };
  const list = (change: object, next: unknown = null): Body =>
    garbage({ nfts: [{ ...nft, ...change }], links: { next } });
  const odd = random.pick([null, "x", -1, 1.5, 2 ** 53, {}, [], true, "1", ""]);
  const status = random.pick([301, 302, 400, 401, 403, 404, 418, 429, 500, 502, 503, 504]);
  const headers = random.pick([
    { location: "http://127.0.0.1:1/" },
    { "retry-after": random.pick(["0", "-1", "x", "99999999", "1e309"]) },
  ]);
  const forms: readonly (() => Body)[] = [
    () => list({ serial_number: odd }),
    () => list({ token_id: odd }),
    () => list({ account_id: odd }),
    () => garbage({ nfts: odd, links }),
    () => garbage({ nfts: [odd], links }),
    () => garbage({ nfts: Array.from({ length: 101 }, () => nft), links }),
    () => garbage({ nfts: [nft], links: odd }),
    () => list({}, "http://127.0.0.1:1/api/v1/accounts/x/nfts"),
    () => list({}, `/api/v1/accounts/${id}/nfts?serialnumber=lt:1`),
    () => list({}, "/api/v1/../../etc/passwd"),
    () => ({ kind: "foreign-next", path, url: "http://127.0.0.1:1/" }),
    () => garbage(junk(random, 300)),
    () => garbage("[".repeat(10_000)),
    () => garbage('{"__proto__":{"polluted":1},"nfts":[],"links":null}'),
    () => garbage(""),
    () => ({ kind: "fail", path, status, headers, html: random.below(2) === 0 }),
    () => ({ kind: "replica-flip", path, asOf: "1.000000000" }),
    () => (random.below(20) > 0 ? garbage("null") : { kind: "hang", path }),
    () => (random.below(20) > 0 ? garbage("0") : garbage(`{"nfts":"${"x".repeat(4_000_000)}"}`)),
  ];
  return service.hedera.mirror.faults.inject(random.pick(forms)());
}

const CODES = Object.keys(hapi.proto.ResponseCodeEnum) as ResponseCode[];
const SECOND = 1_000_000_000n;
let nanos = 0n;

/** Sends one message while the nodes answer oddly: each outcome is one that publishing knows. */
export async function oddLedgerAnswer(random: Dice, world: World): Promise<string> {
  const { topic, topicId, service } = world;
  const fault = ledgerFault(random);
  nanos += 1n;
  const prepared = await topic.prepareMessage({
    topicId,
    message: '{"type":"fuzz"}',
    memo: "fuzz",
    validStart: BigInt(Date.now()) * 1_000_000n - 10n * SECOND + nanos,
  });
  const { nodes } = service.hedera;
  for (const { faults } of nodes) faults.inject(fault);
  try {
    const sent = await topic.send(prepared.signedBytes);
    assert.ok(["accepted", "refused", "unknown"].includes(sent.kind), sent.kind);
    if (fault.kind === "refuse" && fault.calls !== "receipts" && sent.kind === "accepted") {
      assert.equal(fault.code, "OK");
    }
    if (sent.kind !== "accepted" && random.below(4) > 0) return sent.kind;
    const receipt = await topic.receipt(prepared.transactionId);
    assert.ok(["success", "failed", "unknown"].includes(receipt.kind), receipt.kind);
    if (receipt.kind === "success") assert.equal(sent.kind, "accepted");
    return receipt.kind;
  } finally {
    for (const { faults } of nodes) faults.heal();
  }
}

function ledgerFault(random: Dice): ConsensusFault {
  const calls = random.pick(["transactions", "receipts", "all"] as const);
  const code = random.pick(CODES);
  const bytes = random.pick([
    () => randomBytes(random.below(400)),
    () => Buffer.alloc(0),
    () => Buffer.from([0x08, ...Array.from({ length: 11 }, () => 0xff)]),
    () => Buffer.from([0x72, 0x7f, 0x0a]),
  ])();
  return random.pick<() => ConsensusFault>([
    () => ({ kind: "refuse", calls, code }),
    () => ({ kind: "refuse", calls, code }),
    () => ({ kind: "fail-at-consensus", code }),
    () => ({ kind: "garbage", calls, bytes }),
    () => ({ kind: "unavailable", calls }),
    () => ({ kind: "foreign-duplicate" }),
    () => (random.below(30) > 0 ? { kind: "refuse", calls, code } : { kind: "drop", calls }),
  ])();
}

/** Puts what does not belong there into a key that this request's answer reads. */
export async function spoilRedis(
  random: Dice,
  { redis, today }: World,
  { id }: Voter,
  request: WireRequest,
): Promise<void> {
  const star = "0198f2a0-0000-7000-8000-000000000000";
  const odd = random.pick([
    ...["", "x", "null", "[]", "{}", `[2,1,"${id}",[]]`, `[1,1,"${id}",[]]`],
    ...[`[2,1,"0.0.5",[["${star}","token/0.0.9001",1]]]`, `[2,9,"${id}",[]]`, junk(random, 200)],
    ...[`[2,1,"${id}",[["${star}","token/0.0.9001",${Date.now()}]]]`, `[2,1,"${id}",[[1,2,3]]]`],
    ...[`[2,1,"${id}",[["x","y",1e400]]]`, "9".repeat(5_000), '{"schema":2,"rules":1}'],
  ]);
  const address = /X-Forwarded-For: (\S+)/.exec(request.bytes)?.[1] ?? "127.0.0.1";
  const key = random.pick([
    snapshotKey(today),
    "starboard:{forever-mint/mint}",
    "starboard:refusals",
    "starboard:console:holdings-dry-run",
    `starboard:rate:voting:{${address}}`,
    "starboard:ready",
  ]);
  const emptied = redis.multi().del(key);
  await random
    .pick([
      () => emptied.set(key, odd),
      () => emptied.hSet(key, id, odd),
      () => emptied.lPush(key, odd),
      () => emptied.sAdd(key, odd),
      () => emptied.zAdd(key, { score: 1, value: odd }),
      () => emptied.hSet(key, id, odd),
    ])()
    .exec();
}
