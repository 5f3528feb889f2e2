import * as assert from "node:assert/strict";
import { AccountId, Client, LedgerId } from "@hashgraph/sdk";
import fc from "fast-check";
import { test } from "uvu";
import {
  compareEntityIds,
  entityChecksum,
  entityNumber,
  isEntityId,
  type LedgerNetwork,
  parseEntityId,
} from "../../src/ledger/entity-id.ts";

const NETWORKS: readonly LedgerNetwork[] = ["local", "mainnet", "previewnet", "testnet"];
const number = fc.integer({ min: 1, max: 999_999_999_999 });
const network = fc.constantFrom(...NETWORKS);

test("0.0.123 is vfmkw on mainnet and esxsf on testnet", () => {
  assert.equal(entityChecksum("0.0.123", "mainnet"), "vfmkw");
  assert.equal(entityChecksum("0.0.123", "testnet"), "esxsf");
  assert.equal(parseEntityId("0.0.123-vfmkw", "mainnet"), "0.0.123");
  assert.equal(parseEntityId("0.0.123-vfmkw", "testnet"), undefined);
  assert.equal(parseEntityId("0.0.123-esxsf", "testnet"), "0.0.123");
});

test("checksums are those of the ledger's own software, on every network", () => {
  const ids = { mainnet: 0, testnet: 1, previewnet: 2, local: 3 } as const;
  fc.assert(
    fc.property(number, network, (n, net) => {
      const client = Client.forNetwork({}).setLedgerId(LedgerId.fromBytes(Uint8Array.of(ids[net])));
      const theirs = new AccountId(n).toStringWithChecksum(client);
      assert.equal(`0.0.${n}-${entityChecksum(`0.0.${n}`, net)}`, theirs);
      client.close();
    }),
    { numRuns: 200 },
  );
});

test("an id is read with its checksum and without, and only its number counts", () => {
  fc.assert(
    fc.property(number, network, (n, net) => {
      const id = `0.0.${n}`;
      assert.equal(parseEntityId(id, net), id);
      assert.equal(parseEntityId(`${id}-${entityChecksum(id, net)}`, net), id);
      assert.equal(entityNumber(id), n);
    }),
  );
});

test("one changed letter or digit is noticed by the checksum", () => {
  fc.assert(
    fc.property(number, fc.nat(4), fc.integer({ min: 1, max: 25 }), (n, place, by) => {
      const id = `0.0.${n}`;
      const letters = [...entityChecksum(id, "mainnet")];
      const code = ((letters[place] ?? "a").charCodeAt(0) - 97 + by) % 26;
      letters[place] = String.fromCharCode(97 + code);
      assert.equal(parseEntityId(`${id}-${letters.join("")}`, "mainnet"), undefined);
      const other = `0.0.${n + 1}`;
      assert.notEqual(entityChecksum(other, "mainnet"), entityChecksum(id, "mainnet"));
    }),
  );
});

test("every other spelling of an account is refused", () => {
  for (const text of [
    "",
    "1001",
    "0.1001",
    "0.0.0",
    "0.0.01001",
    "00.00.001001",
    "0.0.1e3",
    "0.0.-1",
    "0.0.+1",
    "0.0.1.0",
    "0.0.1234567890123",
    "1.0.1001",
    "0.1.1001",
    " 0.0.1001",
    "0.0.1001 ",
    "0.0.1001\n",
    "0.0.1001-",
    "0.0.123-VFMKW",
    "0.0.123-vfmk",
    "0.0.123-vfmkww",
    "0.0.123 -vfmkw",
    "0.0.１２３",
    "0x00000000000000000000000000000000000003e9",
    "WGP76ROLDBIZVRN6J62HL6Y3VQBNE42L",
    `0.0.${"1".repeat(16_384)}`,
  ]) {
    assert.equal(parseEntityId(text, "mainnet"), undefined, text.slice(0, 40));
    assert.equal(isEntityId(text), false, text.slice(0, 40));
    assert.throws(() => entityNumber(text), RangeError);
  }
});

test("whatever is read is canonical, and reading it again changes nothing", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.stringMatching(/^0?0\.0\.\d{0,14}(-[a-z]{0,6})?$/)),
      (text) => {
        const id = parseEntityId(text, "local");
        if (id === undefined) return;
        assert.ok(isEntityId(id) && text.startsWith(id));
        assert.equal(parseEntityId(id, "local"), id);
      },
    ),
  );
});

test("ids are ordered by their number", () => {
  assert.deepEqual(["0.0.10", "0.0.9", "0.0.100"].sort(compareEntityIds), [
    "0.0.9",
    "0.0.10",
    "0.0.100",
  ]);
});

test.run();
