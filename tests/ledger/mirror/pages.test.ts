import * as assert from "node:assert/strict";
import { test } from "uvu";
import { bounds } from "../../../src/bounds.ts";
import { MirrorError, type MirrorFault } from "../../../src/ledger/mirror/error.ts";
import { nftLists, nftRow, sendJson, serialsOf, upTo, withStubs } from "./stub.ts";

const WALLET = "0.0.1001";
const A = "0.0.5001";
const LIST = `/api/v1/accounts/${WALLET}/nfts`;
const FIRST = `${LIST}?token.id=${A}&limit=100`;

const faultOf = (fault: MirrorFault) => (error: unknown) =>
  error instanceof MirrorError && error.fault === fault;

for (const [held, pages] of [
  [0, 1],
  [1, 1],
  [99, 1],
  [100, 2],
  [101, 2],
  [230, 3],
] as const) {
  test(`${held} NFTs are read from ${pages} page(s), ascending`, async () => {
    await withStubs([nftLists({ [A]: upTo(held) })], async (mirror, [stub]) => {
      assert.deepEqual(await serialsOf(mirror, WALLET, A), upTo(held));
      assert.equal(stub.asked.length, pages);
      assert.equal(stub.asked[0], FIRST);
    });
  });
}

test("a short page with a link is not taken for the last one", async () => {
  await withStubs(
    [
      (response, path) =>
        sendJson(response, 200, {
          nfts: [nftRow(path === FIRST ? 9 : 3)],
          links: { next: path === FIRST ? `${FIRST}&serialnumber=lt:9` : null },
        }),
    ],
    async (mirror) => assert.deepEqual(await serialsOf(mirror, WALLET, A), [3, 9]),
  );
});

test("rows that are deleted, of another owner, of another collection or seen before count nothing", async () => {
  const rows = [
    nftRow(7),
    nftRow(7),
    nftRow(6, { deleted: true }),
    nftRow(5, { account_id: "0.0.1002" }),
    nftRow(4, { account_id: null, deleted: true }),
    nftRow(3, { token_id: "0.0.5002" }),
    nftRow(2),
  ];
  await withStubs(
    [(response) => sendJson(response, 200, { nfts: rows, links: { next: null } })],
    async (mirror) => assert.deepEqual(await serialsOf(mirror, WALLET, A), [2, 7]),
  );
});

test("the NFTs of a deleted collection count nothing", async () => {
  const rows = upTo(3).map((serial) => nftRow(serial, { deleted: true }));
  await withStubs(
    [(response) => sendJson(response, 200, { nfts: rows, links: { next: null } })],
    async (mirror) => assert.deepEqual(await serialsOf(mirror, WALLET, A), []),
  );
});

for (const next of [
  "http://evil.example/api/v1/accounts/0.0.1002/nfts?token.id=0.0.5001",
  "http://evil.example?/api/v1/accounts/0.0.1001/nfts?token.id=0.0.5001",
  "ftp://127.0.0.1/api/v1/accounts/0.0.1001/nfts?token.id=0.0.5001",
  "http:/api/v1/accounts/0.0.1001/nfts?token.id=0.0.5001",
  "//evil.example/api/v1/accounts/0.0.1001/nfts?limit=100",
  "/\\evil.example/api/v1/accounts/0.0.1001/nfts?limit=100",
  "\\\\evil.example/api/v1/accounts/0.0.1001/nfts?limit=100",
  "/api/v1/accounts/0.0.1002/nfts?limit=100",
  "/api/v1/tokens/0.0.5001/nfts?limit=100",
  "/accounts/0.0.1001/nfts?limit=100",
  "/api/v1/accounts/0.0.1001/../0.0.1002/nfts?limit=100",
  "/api/v1/accounts/0.0.1001/%6efts?limit=100",
  "/api/v1/accounts/0.0.1001/nfts/?limit=100",
  "/api/v1/accounts/0.0.1001/nfts",
  "/api/v1/accounts/0.0.1001/nfts?",
  "/api/v1/accounts/0.0.1001/nfts?limit=100#x",
  "/api/v1/accounts/0.0.1001/nfts?limit=1 00",
  "/api/v1/accounts/0.0.1001/nfts?limit=100\r\nhost: evil",
  "?limit=100&serialnumber=lt:5",
  "javascript:0",
]) {
  test(`the link ${JSON.stringify(next)} is refused and not followed`, async () => {
    await withStubs(
      [(response) => sendJson(response, 200, { nfts: [nftRow(1)], links: { next } })],
      async (mirror, [stub]) => {
        await assert.rejects(serialsOf(mirror, WALLET, A), faultOf("link"));
        assert.equal(stub.asked.length, 1);
      },
    );
  });
}

for (const origin of ["http://rest:5551", "https://user@mirror.internal", "http://[::1]:80"]) {
  test(`of a link with its host, ${origin}, path and query are followed at the node asked`, async () => {
    const next = `${origin}${FIRST}&serialnumber=lt:9`;
    await withStubs(
      [
        (response, path) =>
          sendJson(response, 200, {
            nfts: [nftRow(path === FIRST ? 9 : 3)],
            links: { next: path === FIRST ? next : null },
          }),
      ],
      async (mirror, [stub]) => {
        assert.deepEqual(await serialsOf(mirror, WALLET, A), [3, 9]);
        assert.deepEqual(stub.asked, [FIRST, `${FIRST}&serialnumber=lt:9`]);
      },
    );
  });
}

for (const [name, links] of [
  ["empty", { next: "" }],
  ["a number", { next: 1 }],
  ["absent", {}],
  ["longer than any cursor", { next: `${FIRST}&${"x".repeat(3_000)}` }],
] as const) {
  test(`an answer with a link that is ${name} is refused`, async () => {
    await withStubs(
      [(response) => sendJson(response, 200, { nfts: [nftRow(1)], links })],
      async (mirror) => assert.rejects(serialsOf(mirror, WALLET, A), faultOf("schema")),
    );
  });
}

test("a link to the first page again is refused", async () => {
  await withStubs(
    [(response) => sendJson(response, 200, { nfts: [nftRow(1)], links: { next: FIRST } })],
    async (mirror, [stub]) => {
      await assert.rejects(serialsOf(mirror, WALLET, A), faultOf("link"));
      assert.equal(stub.asked.length, 1);
    },
  );
});

test("a link from an empty page to an endless serial is followed once, not split into ranges", async () => {
  const next = `${FIRST}&serialnumber=lt:${"9".repeat(400)}`;
  await withStubs(
    [(response) => sendJson(response, 200, { nfts: [], links: { next } })],
    async (mirror, [stub]) => {
      await assert.rejects(serialsOf(mirror, WALLET, A), faultOf("link"));
      assert.deepEqual(stub.asked, [FIRST, next]);
    },
  );
});

test("links that lead in a circle are refused", async () => {
  let page = 0;
  await withStubs(
    [
      (response) => {
        page += 1;
        const next = `${FIRST}&serialnumber=lt:${page % 3}`;
        sendJson(response, 200, { nfts: [nftRow(page)], links: { next } });
      },
    ],
    async (mirror, [stub]) => {
      await assert.rejects(serialsOf(mirror, WALLET, A), faultOf("link"));
      assert.ok(stub.asked.length <= 4);
    },
  );
});

test("a list that never ends is given up after a bounded number of pages", async () => {
  let page = 0;
  await withStubs(
    [
      (response) => {
        page += 1;
        const next = `${FIRST}&order=asc&serialnumber=gt:${page}`;
        sendJson(response, 200, { nfts: [nftRow(page)], links: { next } });
      },
    ],
    async (mirror, [stub]) => {
      await assert.rejects(serialsOf(mirror, WALLET, A), faultOf("pages"));
      assert.equal(stub.asked.length, bounds.mirrorPagesMax);
    },
  );
});

test("a base URL may have a path, which links may carry or leave out", async () => {
  for (const linkPrefix of ["", "/mirror"]) {
    await withStubs(
      [
        (response, path) =>
          sendJson(response, 200, {
            nfts: [nftRow(path === `/mirror${FIRST}` ? 9 : 3)],
            links: {
              next: path === `/mirror${FIRST}` ? `${linkPrefix}${FIRST}&serialnumber=lt:9` : null,
            },
          }),
      ],
      async (_, [stub]) => {
        const { MirrorClient } = await import("../../../src/ledger/mirror/node.ts");
        const { silentLogger } = await import("../../../src/log.ts");
        for (const base of [`${stub.url}/mirror`, `${stub.url}/mirror/api/v1/`]) {
          const mirror = new MirrorClient({ urls: [base], log: silentLogger });
          assert.deepEqual(await serialsOf(mirror, WALLET, A), [3, 9]);
          assert.equal(stub.asked.at(-1), `/mirror${FIRST}&serialnumber=lt:9`);
          await mirror.close();
        }
      },
    );
  }
});

test("every NFT of a collection comes page by page, and a fault on the way ends it with an error", async () => {
  const list = `/api/v1/tokens/${A}/nfts?limit=100&order=asc`;
  const page = (from: number) => upTo(100).map((i) => nftRow(from + i));
  let broken = false;
  await withStubs(
    [
      (response, path) => {
        if (path === list) {
          return sendJson(response, 200, {
            nfts: page(0),
            links: { next: `${list}&serialnumber=gt:100` },
          });
        }
        if (broken) return sendJson(response, 400, {});
        return sendJson(response, 200, { nfts: [nftRow(101)], links: { next: null } });
      },
    ],
    async (mirror) => {
      const sizes: number[] = [];
      for await (const nfts of mirror.nftOwners(A)) sizes.push(nfts.length);
      assert.deepEqual(sizes, [100, 1]);
      broken = true;
      await assert.rejects(async () => {
        for await (const nfts of mirror.nftOwners(A)) sizes.push(nfts.length);
      }, faultOf("status"));
    },
  );
});

test("a collection whose pages repeat or go back is refused", async () => {
  await withStubs(
    [
      (response, path) =>
        sendJson(response, 200, {
          nfts: [nftRow(5)],
          links: { next: path.includes("serialnumber") ? null : `${path}&serialnumber=gt:5` },
        }),
    ],
    async (mirror) => {
      await assert.rejects(async () => {
        for await (const nfts of mirror.nftOwners(A)) assert.equal(nfts.length, 1);
      }, faultOf("schema"));
    },
  );
});

test.run();
