/**
 * Goal: many pages of a ranking asked for at once cost a few counts of all its items, and none is
 * another page than it would be alone. Method: a ranking by hand that says how it was read.
 */
import * as assert from "node:assert/strict";
import { test } from "uvu";
import { rankingPages } from "../../src/http/ranking-pages.ts";

const NOW = Date.parse("2026-11-20T08:30:00Z");

function rankingOf(size: number) {
  const asked = { top: 0, whole: 0, named: 0, shown: 0 };
  const counts = { totalVotes: 0, votes7d: 0, votes30d: 0 };
  const all = Array.from({ length: size }, (_, index) => ({ id: `${index}`, ...counts }));
  const titled = all.map(({ id }) => ({ id, name: `item ${id}` }));
  const read = rankingPages({
    async top({ limit }) {
      asked.top += 1;
      return { rows: titled.slice(0, limit), total: size };
    },
    async whole() {
      asked.whole += 1;
      return all;
    },
    async named(part) {
      asked.named += 1;
      return new Set(all.flatMap(({ id }) => (id.includes(part) ? [id] : [])));
    },
    async shown(items) {
      asked.shown += 1;
      return items.map(({ id }) => ({ id, name: `item ${id}` }));
    },
  });
  const alone = (part = "", offset = 0, limit = 0) => {
    const found = titled
      .map((row, index) => ({ rank: index + 1, ...row }))
      .filter(({ id }) => id.includes(part));
    return { rows: found.slice(offset, offset + limit), total: found.length };
  };
  return { asked, read, alone };
}

test("every page is the one that a read of its own would give", async () => {
  for (const size of [0, 1, 99, 100, 101, 1_234]) {
    const { read, alone } = rankingOf(size);
    for (const q of [undefined, "7", "none"]) {
      for (const offset of [0, 1, 29, 30, 99, 100, 101, 1_200, 999_999_999]) {
        for (const limit of [1, 20, 100]) {
          const page = await read({ q, offset, limit, now: NOW });
          assert.deepEqual(page, alone(q, offset, limit), `${size} ${q} ${offset}+${limit}`);
        }
      }
    }
  }
});

test("a hundred offsets at once, or a hundred names, count all items twice at most", async () => {
  const { asked, read } = rankingOf(10_000);
  const together = (query: (n: number) => { readonly q?: string; readonly offset: number }) =>
    Promise.all(Array.from({ length: 100 }, (_, n) => read({ limit: 20, now: NOW, ...query(n) })));
  await together((n) => ({ offset: 100 + n * 100 }));
  assert.deepEqual([asked.top, asked.whole], [0, 1]);
  await together((n) => ({ offset: 10_000 + n * 1_000 }));
  assert.deepEqual([asked.top, asked.whole], [0, 2]);
  await together((n) => ({ offset: 0, q: String(n) }));
  assert.deepEqual([asked.top, asked.whole, asked.named], [0, 3, 100]);
});

test("the first pages count no more than they show", async () => {
  const { asked, read } = rankingOf(10_000);
  await read({ limit: 20, offset: 0, now: NOW });
  await read({ limit: 50, offset: 50, now: NOW });
  assert.deepEqual(asked, { top: 2, whole: 0, named: 0, shown: 0 });
});

test("those of different hours share nothing", async () => {
  const { asked, read } = rankingOf(200);
  await Promise.all([NOW, NOW + 3_600_000].map((now) => read({ limit: 5, offset: 150, now })));
  assert.equal(asked.whole, 2);
});

test.run();
