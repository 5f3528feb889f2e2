import * as assert from "node:assert/strict";
import { createClient, type RedisClientType } from "redis";
import { DAY_MS, dayOf } from "../../actors/day.ts";
import { encode } from "../../src/publishing/message.ts";
import { seedDay } from "./export-seed.ts";
import { cast, newKey, newWallet, signIn } from "./service.ts";
import { type FailingLine, startWatchedService, type WatchedService } from "./watched-service.ts";

/** A watched service, and what troubles come from. */
export interface Scene {
  readonly service: WatchedService;
  /** A wallet's session. */
  readonly voter: string;
  readonly redis: RedisClientType;
  /** The operator's account, and its key as the ledger takes it. */
  readonly operator: { readonly id: string; readonly key: Buffer };
  close(): Promise<void>;
}

/** Something that needs a person, and the line of the verdict that names it. */
export interface Trouble extends FailingLine {
  readonly name: string;
  happen(scene: Scene): Promise<unknown>;
  cure(scene: Scene): Promise<unknown>;
}

/** Redis' counter of the queue's jobs: with a word in it the queue takes none. */
const JOB_COUNTER = "bull:rewards:id";

/** Statements that write to a table find no room, as on a full disk. */
const fillDisk = ({ service: { network } }: Scene, table: "star" | "export_day") => network.sql`
  create trigger no_room before insert on ${network.sql(table)} execute function no_room()`;
const makeRoom = ({ service: { network } }: Scene, table: "star" | "export_day") => network.sql`
  drop trigger no_room on ${network.sql(table)}`;

/** In the order in which they happen: the first are shown by a star that the disk has room for. */
export const TROUBLES: readonly Trouble[] = [
  {
    name: "the rewards queue is stuck",
    check: "rewards",
    says: /stars? to be offered to rewards, (the oldest for|and the queue takes none)/,
    async happen({ service, voter, redis }) {
      await redis.set(JOB_COUNTER, "stuck");
      assert.equal((await cast(service, voter, "event/hack")).status, 201);
    },
    cure: ({ redis }) => redis.del(JOB_COUNTER),
  },
  {
    name: "the operator's key is wrong",
    check: "alarms",
    // A message on its way at that moment is refused by the name of its payer.
    says: /configuration: 0\.0\.\d+: INVALID_(PAYER_)?SIGNATURE/,
    async happen({ service, voter, operator }) {
      await service.network.hedera.ledger.rotateAccountKey(
        operator.id,
        newKey("ed25519").publicKey,
      );
      assert.equal((await cast(service, voter, "collection/0.0.8001")).status, 201);
    },
    cure: ({ service, operator }) =>
      service.network.hedera.ledger.rotateAccountKey(operator.id, operator.key),
  },
  {
    name: "a topic has lost its key",
    check: "alarms",
    says: /configuration: settings: .*submit key/,
    happen: ({ service: { network } }) =>
      network.hedera.ledger.setSubmitKey(network.topics.asset, null),
    cure: ({ service: { network }, operator }) =>
      network.hedera.ledger.setSubmitKey(network.topics.asset, operator.key),
  },
  {
    name: "the operator's account is empty",
    check: "balance",
    says: /holds 0 HBAR: 0 stars/,
    happen: ({ service, operator }) => service.network.hedera.ledger.setBalance(operator.id, 5n),
    cure: ({ service, operator }) =>
      service.network.hedera.ledger.setBalance(operator.id, 1_000_000_000_000n),
  },
  {
    name: "a stranger's message is on a topic",
    check: "findings",
    says: /differ in 1 place/,
    async happen({ service: { network } }) {
      const { ledger } = network.hedera;
      const stranger = await ledger.createAccount({ key: newKey("ed25519").publicKey });
      const event = { eventId: "meetup", eventType: "OTHER" } as const;
      const said = {
        type: "event_vote",
        wallet: stranger,
        timestamp: Date.now(),
        ...event,
      } as const;
      await ledger.sayOn(network.topics.event, stranger, encode(said, { a: "alpha", b: "beta" }));
    },
    cure: ({ service: { network } }) => network.sql`
      update publishing_finding set resolved_at = now_ms() where resolved_at is null`,
  },
  {
    name: "the mirror node is ten minutes behind",
    check: "mirror",
    says: /1\d minutes behind/,
    async happen({ service: { network } }) {
      const then = `${Math.floor(Date.now() / 1_000) - 600}.000000000`;
      const body = { blocks: [{ number: 1, timestamp: { from: then, to: then } }] };
      network.hedera.mirror.faults.inject({
        kind: "garbage",
        path: /\/blocks\?/,
        body: JSON.stringify(body),
      });
    },
    cure: async ({ service }) => service.network.hedera.mirror.faults.heal(),
  },
  {
    name: "Redis may evict",
    check: "redis",
    says: /may evict/,
    happen: ({ redis }) => redis.configSet("maxmemory-policy", "allkeys-lru"),
    cure: ({ redis }) => redis.configSet("maxmemory-policy", "noeviction"),
  },
  {
    name: "the disk is full",
    check: "postgres",
    says: /no room/,
    async happen(scene) {
      await fillDisk(scene, "star");
      const refused = await cast(scene.service, scene.voter, "token/0.0.9001");
      assert.deepEqual([refused.status, refused.body.code], [503, "UNAVAILABLE"]);
    },
    async cure(scene) {
      await makeRoom(scene, "star");
      assert.equal((await cast(scene.service, scene.voter, "token/0.0.9001")).status, 201);
    },
  },
  {
    name: "exports fail",
    check: "exports",
    says: /2 days of the journal not final yet/,
    async happen(scene) {
      await fillDisk(scene, "export_day");
      await seedDay(scene.service.network.sql, dayOf(Date.now() - 2 * DAY_MS), 4);
    },
    cure: (scene) => makeRoom(scene, "export_day"),
  },
];

/** Starts a service on real parts, with a voter and nothing wrong. */
export async function openScene(): Promise<Scene> {
  const service = await startWatchedService();
  const { network } = service;
  const redis: RedisClientType = createClient({ url: network.settings.REDIS_URL ?? "" });
  redis.on("error", () => undefined);
  await redis.connect();
  const id = network.settings.HEDERA_OPERATOR_ID ?? "";
  const reply = await fetch(`${network.hedera.mirrorUrl}/api/v1/accounts/${id}`);
  const { key } = (await reply.json()) as { key: { key: string } };
  // A protobuf `Key` with its ED25519 variant.
  const operator = { id, key: Buffer.from(`1220${key.key}`, "hex") };
  const voter = await signIn(service, await newWallet(network, { a: 1 }));
  await network.sql`create function no_room() returns trigger language plpgsql as $$ begin
    raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`;
  return {
    service,
    voter,
    redis,
    operator,
    async close() {
      redis.destroy();
      await service.close();
    },
  };
}
