/** When an attribution counts as gone. Method: a mirror node whose answers the test gives, one by one. */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { MirrorError } from "../../../src/ledger/mirror/error.ts";
import type { OneNode } from "../../../src/ledger/mirror/limits.ts";
import type { MirrorNode } from "../../../src/ledger/mirror/node.ts";
import { readCollections } from "../../../src/upkeep/holdings-check/readings.ts";
import { verifyClaims } from "../../../src/upkeep/holdings-check/verify.ts";

const [WALLET, BUYER, OTHER] = ["0.0.1001", "0.0.1002", "0.0.1003"];
const SINCE = 1_795_161_600_000;
/** When the reading of the collection starts. */
const STARTED = SINCE + 200_000;
const claim = { collection: "A", serial: 7, wallet: WALLET, starId: "", since: SINCE } as const;

type Answer = string | "burned" | "unknown" | "away";

/** Of which node each read had to be, in the order asked. */
let nodes: (OneNode | undefined)[] = [];

/** What becomes of the claim where the list of the collection and looks at the NFT say so. */
async function verdictOn(
  listed: Answer,
  looks: readonly Answer[],
  { changedAt = "1795161700.000000000", since = SINCE } = {},
): Promise<string> {
  nodes = [];
  const row = (answer: Answer) => ({
    ...{ tokenId: "0.0.5001", serial: 7, changedAt },
    ...{ owner: answer === "burned" ? null : answer, deleted: answer === "burned" },
  });
  const left = [...looks];
  const mirror: Pick<MirrorNode, "nftOwners" | "nft" | "newestBlock"> = {
    async *nftOwners() {
      yield [{ ...row(OTHER), serial: 1 }];
      if (listed !== "unknown") yield [row(listed)];
    },
    async nft(_token, _serial, limits) {
      nodes.push(limits?.oneNode);
      const answer = left.shift() ?? "unknown";
      if (answer === "away") throw new MirrorError("network", "away");
      return answer === "unknown" ? null : row(answer);
    },
    async newestBlock(limits) {
      nodes.push(limits?.oneNode);
      return null;
    },
  };
  let now = STARTED;
  const readings = await readCollections(
    {
      mirror,
      clock: { now: () => now++ },
      collections: { A: "0.0.5001", B: "0.0.5002" },
      signal: new AbortController().signal,
    },
    new Set(["A"]),
  );
  const { kept, gone, deferred } = await verifyClaims([{ ...claim, since }], readings);
  return deferred[0]?.reason ?? (gone.length > 0 ? "gone" : kept > 0 ? "held" : "not covered");
}

test("gone is what the list and two looks show at one other account, or at none", async () => {
  assert.equal(await verdictOn(WALLET, ["unknown", "unknown"]), "held");
  assert.equal(await verdictOn(BUYER, [BUYER, BUYER]), "gone");
  assert.equal(await verdictOn("burned", ["burned", "burned"]), "gone");
  assert.equal(await verdictOn("unknown", ["burned", "burned"]), "gone");
});

test("an attribution is judged by readings that started after it, and by no other", async () => {
  for (const [since, verdict] of [
    [STARTED - 1, "gone"],
    [STARTED, "not covered"],
  ] as const) {
    const moved = { since, changedAt: "1795161900.000000000" };
    assert.equal(await verdictOn(BUYER, [BUYER, BUYER], moved), verdict);
  }
});

test("answers that differ prove nothing, whatever holder they name", async () => {
  assert.match(await verdictOn(BUYER, [BUYER, WALLET]), /asked twice/);
  assert.match(await verdictOn(BUYER, [BUYER, OTHER]), /asked twice/);
  assert.match(await verdictOn(BUYER, ["burned", BUYER]), /asked twice/);
  assert.match(await verdictOn(BUYER, [OTHER, OTHER]), /two readings/);
  assert.match(await verdictOn("burned", [BUYER, BUYER]), /two readings/);
  assert.match(await verdictOn("unknown", [BUYER, BUYER]), /two readings/);
  assert.match(await verdictOn(BUYER, [WALLET, WALLET]), /held in its own/);
});

test("a look that fails, or finds nothing, proves nothing", async () => {
  assert.match(await verdictOn(BUYER, [BUYER, "unknown"]), /does not know/);
  assert.match(await verdictOn(BUYER, [BUYER, "away"]), /away/);
});

test("what moved before the star is looked at once more, at the node that said how far it is", async () => {
  const looks = [BUYER, BUYER, BUYER, BUYER];
  assert.equal(await verdictOn(BUYER, looks, { changedAt: "1795161500.000000000" }), "gone");
  const [block, ...again] = nodes.slice(2);
  assert.ok(block !== undefined && again.length === 2 && again.every((node) => node === block));
});

test.run();
