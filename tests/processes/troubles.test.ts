// timeout: 240 s
/**
 * Goal: each trouble that needs a person is in the verdict, on the console's pages, in the metrics
 * and in the alerts, each with its entry in the runbook, and gone after its cure. Method: a web
 * process and a worker on real parts; the troubles of the table come together, and go together.
 */
import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient, type RedisClientType } from "redis";
import { suite } from "uvu";
import { parse } from "yaml";
import { DAY_MS, dayOf } from "../../actors/day.ts";
import { encode } from "../../src/publishing/message.ts";
import { signInOperator } from "../http/console/browser-session.ts";
import { seedDay } from "../support/export-seed.ts";
import { cast, newKey, newWallet, signIn } from "../support/service.ts";
import {
  type FailingLine,
  startWatchedService,
  type WatchedService,
} from "../support/watched-service.ts";

interface Scene {
  readonly service: WatchedService;
  /** A wallet's session. */
  readonly voter: string;
  readonly redis: RedisClientType;
  /** The operator's account, and its key as the ledger takes it. */
  readonly operator: { readonly id: string; readonly key: Buffer };
}

interface Trouble extends FailingLine {
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
const TROUBLES: readonly Trouble[] = [
  {
    name: "the rewards queue is stuck",
    check: "rewards",
    says: /stars? to be offered to rewards, the oldest for/,
    happen: ({ redis }) => redis.set(JOB_COUNTER, "stuck"),
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
      assert.equal((await cast(service, voter, "event/hack")).status, 201);
      // Offered to rewards it would have been within seconds: it is a minute and a half late.
      await service.network.sql.begin(async (sql) => {
        await sql`set local session_replication_role = replica`;
        await sql`update star set at = at - 93000 where target_id = 'hack'`;
      });
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

const test = suite<Scene & { close?: () => Promise<void> }>("troubles");
test.before(async (context) => {
  const service = await startWatchedService();
  const { network } = service;
  const redis: RedisClientType = createClient({ url: network.settings.REDIS_URL ?? "" });
  redis.on("error", () => undefined);
  await redis.connect();
  const close = async (): Promise<void> => {
    redis.destroy();
    await service.close();
  };
  Object.assign(context, { service, redis, close });
  const id = network.settings.HEDERA_OPERATOR_ID ?? "";
  const reply = await fetch(`${network.hedera.mirrorUrl}/api/v1/accounts/${id}`);
  const { key } = (await reply.json()) as { key: { key: string } };
  // A protobuf `Key` with its ED25519 variant.
  const operator = { id, key: Buffer.from(`1220${key.key}`, "hex") };
  const voter = await signIn(service, await newWallet(network, { a: 1 }));
  Object.assign(context, { operator, voter });
  await network.sql`create function no_room() returns trigger language plpgsql as $$ begin
    raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`;
});
test.after((context) => context.close?.());

/** The checks that an alert watches, with the entry of the runbook that each leads to. */
function alerts(): ReadonlyMap<string, string> {
  const file = join(import.meta.dirname, "../../deploy/prometheus/alerts.yaml");
  const { groups } = parse(readFileSync(file, "utf8")) as {
    groups: { rules: { expr: string; annotations: { runbook_url: string } }[] }[];
  };
  return new Map(
    groups.flatMap(({ rules }) =>
      rules.map(({ expr, annotations }): [string, string] => [
        /starboard_check_failing\{check="(.+?)"\}/.exec(expr)?.[1] ?? "",
        annotations.runbook_url,
      ]),
    ),
  );
}

test("all come, each is told at every place, all are cured, and none is told any more", async (scene) => {
  const { service, voter } = scene;
  assert.equal((await cast(service, voter, "event/meetup")).status, 201);
  await service.untilWell();

  for (const { happen } of TROUBLES) await happen(scene);
  const lineOf = (verdict: Awaited<ReturnType<typeof service.verdict>>, check: string) =>
    verdict.checks.find(({ name }) => name === check);
  const verdict = await service.untilFailing(TROUBLES);
  const metrics = await service.metrics();
  const operator = await signInOperator(service);
  const pages = await Promise.all(["/ops", "/ops/stars"].map((path) => operator.get(path)));
  const runbook = (await operator.get("/ops/alarms")).text;
  for (const { name, check } of TROUBLES) {
    const { since, meanwhile, fix, runbook: path } = lineOf(verdict, check) ?? {};
    assert.ok(since && meanwhile && fix, name);
    assert.equal(path, `docs/operating/alarms.md#${check}`);
    assert.equal(alerts().get(check), path, name);
    for (const { text } of pages) {
      assert.ok(text.includes(`<strong>${check}</strong>`), name);
      assert.ok(text.includes(`href="/ops/alarms#${check}"`), name);
    }
    assert.ok(runbook.includes(`<div id="${check}">`), name);
    assert.ok(metrics.includes(`starboard_check_failing{check="${check}"} 1`), name);
  }
  assert.match(metrics, /starboard_operator_balance_tinybars 5\n/);

  for (const { cure } of TROUBLES.toReversed()) await cure(scene);
  await service.untilWell();
  const after = await service.metrics();
  for (const { check, name } of TROUBLES) {
    assert.ok(after.includes(`starboard_check_failing{check="${check}"} 0`), name);
  }
  assert.ok(!(await operator.get("/ops")).text.includes("data-verdict"));
});

test.run();
