import * as assert from "node:assert/strict";
import { test } from "uvu";
import { temporaryFolder } from "../support/folder.ts";
import { startLedger, startNetwork } from "../support/network.ts";
import { starboard } from "../support/starboard.ts";

test("both topics are made: submit key the operator's, no admin key, no fees; and printed", async () => {
  const network = await startNetwork();
  const { HEDERA_NODES, HEDERA_OPERATOR_ID, HEDERA_OPERATOR_KEY } = network.settings;
  const settings = {
    HEDERA_NODES: HEDERA_NODES ?? "",
    HEDERA_OPERATOR_ID: HEDERA_OPERATOR_ID ?? "",
    HEDERA_OPERATOR_KEY: HEDERA_OPERATOR_KEY ?? "",
  };
  const made = await starboard(["topics", "create", "--json"], settings);
  assert.equal(made.status, 0, made.stderr);
  const ids = made.json<{ eventVotesTopicId: string; assetVotesTopicId: string }>();
  assert.notEqual(ids.eventVotesTopicId, ids.assetVotesTopicId);
  for (const id of Object.values(ids)) {
    const topic = (await (
      await fetch(`${network.hedera.mirrorUrl}/api/v1/topics/${id}`)
    ).json()) as {
      submit_key: { _type: string } | null;
      admin_key: unknown;
      custom_fees: { fixed_fees: unknown[] };
    };
    assert.equal(topic.submit_key?._type, "ED25519");
    assert.equal(topic.admin_key, null);
    assert.deepEqual(topic.custom_fees.fixed_fees, []);
  }
  const refused = await starboard(["topics", "create"], {
    ...settings,
    HEDERA_OPERATOR_ID: "0.0.999999",
  });
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /^the ledger refused to make the topic: PAYER_ACCOUNT_NOT_FOUND\n$/);
  const missing = await starboard(["topics", "create"], {}, temporaryFolder("no-start-"));
  assert.deepEqual([missing.status, missing.stdout], [1, ""]);
  assert.match(missing.stderr, /HEDERA_OPERATOR_ID is missing/);
  assert.doesNotMatch(refused.stderr + missing.stderr, new RegExp(settings.HEDERA_OPERATOR_KEY));
  await network.close();
});

test("where the second topic fails, the line names the first one", async () => {
  const { hedera, settings } = await startLedger();
  const [node] = hedera.nodes;
  assert.ok(node !== undefined);
  // The fault that is injected last strikes first: one transaction passes.
  node.faults.inject({ kind: "refuse", code: "INSUFFICIENT_PAYER_BALANCE" });
  node.faults.inject({ kind: "delay", ms: 0, times: 1 });
  const { HEDERA_OPERATOR_ID, HEDERA_OPERATOR_KEY } = settings;
  const { status, stdout, stderr } = await starboard(["topics", "create"], {
    HEDERA_NODES: `${node.address}=${node.account}`,
    HEDERA_OPERATOR_ID: HEDERA_OPERATOR_ID ?? "",
    HEDERA_OPERATOR_KEY: HEDERA_OPERATOR_KEY ?? "",
  });
  const line = /: INSUFFICIENT_PAYER_BALANCE; EVENT_VOTES_TOPIC_ID=(\S+) is made and paid for\n$/;
  const [, made = ""] = line.exec(stderr) ?? [];
  const reply = await fetch(`${hedera.mirrorUrl}/api/v1/topics/${made}`);
  const { memo } = (await reply.json()) as { memo?: string };
  await hedera.close();
  assert.deepEqual([status, stdout], [1, ""]);
  assert.equal(memo, "Starboard event stars", stderr);
});

test.run();
