/**
 * Goal: a mirror node in any kind of trouble gives 503 in time and spends nothing, and never a
 * guessed weight. Method: break the mirror node behind a real web process in every way it knows.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import { readProcesses } from "../../../src/store/service-report.ts";
import type { MirrorFault } from "../../support/mirror-faults.ts";
import { until } from "../../support/processes.ts";
import {
  cast,
  newWallet,
  type Service,
  send,
  signIn,
  startService,
} from "../../support/service.ts";
import { SLACK_MS } from "../../support/slack.ts";

const test = suite<{ service: Service; token: string }>("holdings");

test.before(async (context) => {
  context.service = await startService();
});
test.after((context) => context.service.close());
test.before.each(async (context) => {
  context.token = await signIn(context.service, await newWallet(context.service, { a: 130, b: 1 }));
});
test.after.each((context) => context.service.hedera.mirror.faults.heal());

const faults: Readonly<Record<string, MirrorFault>> = {
  "answers 500": { kind: "fail", status: 500 },
  "answers 503": { kind: "fail", status: 503 },
  "answers 429 in HTML": { kind: "fail", status: 429, html: true },
  "answers 404 where an empty list is due": { kind: "fail", status: 404 },
  "redirects elsewhere": {
    kind: "fail",
    status: 302,
    headers: { location: "http://127.0.0.1:9/" },
  },
  hangs: { kind: "hang" },
  "breaks off its JSON": { kind: "garbage" },
  "answers other JSON": { kind: "garbage", body: '{"nfts":"many"}' },
  "lists a serial below 1": {
    kind: "garbage",
    body: '{"nfts":[{"account_id":"0.0.5","token_id":"0.0.5","serial_number":-4,"deleted":false}],"links":{"next":null}}',
  },
  "points to another host": { kind: "foreign-next", url: "http://127.0.0.1:9/api/v1/x" },
  "points to another host without a scheme": { kind: "foreign-next", url: "//127.0.0.1:9/x" },
  "points to another path": { kind: "foreign-next", url: "/api/v1/accounts/0.0.2/nfts" },
  "fails on the second page": { kind: "fail", status: 500, path: /serialnumber=lt/ },
  "fails for collection B alone": { kind: "fail", status: 500, path: /B-COLLECTION/ },
};

for (const [name, given] of Object.entries(faults)) {
  test(`503 HOLDINGS_UNAVAILABLE, nothing spent, when the mirror node ${name} (A16 slow-mirror, P12)`, async ({
    service,
    token,
  }) => {
    const isB = given.path?.source === "B-COLLECTION";
    const path = isB
      ? new RegExp(service.collectionB.replaceAll(".", "\\."))
      : (given.path ?? /\/nfts/);
    service.hedera.mirror.faults.inject({ ...given, path });
    const startedAt = performance.now();
    const reply = await cast(service, token, "token/0.0.9001", { "idempotency-key": "same" });
    assert.equal(reply.status, 503, reply.text);
    assert.equal(reply.body.code, "HOLDINGS_UNAVAILABLE");
    assert.ok(Number(reply.headers.get("retry-after")) >= 1);
    assert.ok(performance.now() - startedAt < 3_000 + SLACK_MS);
    service.hedera.mirror.faults.heal();
    assert.equal((await send(service, "GET /voting/allowance", { token })).body.used, 0);
    const later = await cast(service, token, "token/0.0.9001", { "idempotency-key": "same" });
    assert.equal(later.status, 201);
    assert.equal(later.body.star.weight, 136);
  });
}

test("a repeat and an exhausted allowance are refused without any mirror node", async ({
  service,
  token,
}) => {
  for (let n = 1; n <= 5; n += 1) await cast(service, token, `token/0.0.${9000 + n}`);
  service.hedera.mirror.faults.inject({ kind: "hang" });
  const repeat = await cast(service, token, "token/0.0.9001");
  assert.equal(repeat.body.code, "ALREADY_STARRED");
  assert.equal((await cast(service, token, "token/0.0.9030")).body.code, "ALLOWANCE_EXHAUSTED");
});

test("other wallets' refusals and reads go on while a wallet's reading hangs (A16 slow-mirror, P17)", async ({
  service,
  token,
}) => {
  service.hedera.mirror.faults.inject({ kind: "hang", path: /\/nfts/ });
  const hanging = cast(service, token, "token/0.0.9002");
  const other = await signIn(service, await newWallet(service));
  assert.equal((await send(service, "GET /voting/allowance", { token: other })).status, 200);
  assert.equal((await hanging).status, 503);
});

test("a mirror node that answers all but NFTs is away for the verdict, for it takes no star", async ({
  service,
}) => {
  const awaySince = async () =>
    (await readProcesses(service.sql, 0))[0]?.report.mirrorAwaySince ?? null;
  service.hedera.mirror.faults.inject({ kind: "fail", status: 500, path: /\/nfts/ });
  await until("the web process reports it", async () => (await awaySince()) !== null);
  service.hedera.mirror.faults.heal();
  await until("it is over", async () => (await awaySince()) === null);
});

test.run();
