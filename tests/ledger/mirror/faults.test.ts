import * as assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { test } from "uvu";
import { bounds } from "../../../src/bounds.ts";
import { MirrorError, type MirrorFault } from "../../../src/ledger/mirror/error.ts";
import { Budget } from "../../../src/ledger/mirror/limits.ts";
import { MirrorClient } from "../../../src/ledger/mirror/node.ts";
import { blocksSchema } from "../../../src/ledger/mirror/schemas.ts";
import { MirrorTransport } from "../../../src/ledger/mirror/transport.ts";
import { silentLogger } from "../../../src/log.ts";
import { SLACK_MS } from "../../support/slack.ts";
import {
  inSequence,
  NOT_FOUND,
  nftLists,
  nftRow,
  type Reply,
  sendJson,
  serialsOf,
  withStubs,
} from "./stub.ts";

const WALLET = "0.0.1001";
const A = "0.0.5001";
const ANSWERS: Reply = nftLists({ [A]: [1, 2, 3] });

// Pauses between attempts are random; a tenth of the longest is enough to prove them.
Math.random = () => 0.1;

const hangs: Reply = () => {};
const sends =
  (status: number, text: string, headers: Record<string, string> = {}): Reply =>
  (response) => {
    response.writeHead(status, headers);
    response.end(text);
  };
const page = (...nfts: unknown[]): Reply => {
  return (response) => sendJson(response, 200, { nfts, links: { next: null } });
};
const busyHtml = sends(429, "<html>Too many requests</html>", { "content-type": "text/html" });
const faultOf = (fault: MirrorFault) => (error: unknown) =>
  error instanceof MirrorError && error.fault === fault;

const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

/** Fails unless the stub has no connection left, and the process no timer more, soon. */
async function nothingLeft(
  connections: () => Promise<number>,
  timersBefore: number,
): Promise<void> {
  const left = async () => ({ sockets: await connections(), timers: timers() - timersBefore });
  const until = performance.now() + 2_000;
  let now = await left();
  while ((now.sockets > 0 || now.timers > 0) && performance.now() < until) {
    await new Promise((resolve) => setImmediate(resolve));
    now = await left();
  }
  assert.deepEqual(now, { sockets: 0, timers: 0 });
}

const bodyHangs: Reply = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.write('{"nfts":[');
};
const trickles: Reply = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const timer = setInterval(() => response.write(" "), 20);
  response.on("close", () => clearInterval(timer));
};

for (const [name, reply] of [
  ["never answers", hangs],
  ["stops in the middle of its answer", bodyHangs],
  ["answers one byte at a time", trickles],
] as const) {
  test(`a node that ${name} holds no reader past the deadline and keeps no socket or timer`, async () => {
    await withStubs([reply], async (mirror, [stub]) => {
      const before = timers();
      const startedAt = performance.now();
      await assert.rejects(serialsOf(mirror, WALLET, A, { deadlineMs: 200 }), faultOf("timeout"));
      const tookMs = performance.now() - startedAt;
      assert.ok(tookMs >= 190 && tookMs < 200 + SLACK_MS, `${tookMs} ms`);
      await nothingLeft(stub.connections, before);
    });
  });
}

test("a node that never finishes its TLS handshake holds no reader past the deadline", async () => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const mirror = new MirrorClient({ urls: [`https://127.0.0.1:${port}`], log: silentLogger });
  const startedAt = performance.now();
  await assert.rejects(mirror.account(WALLET, { deadlineMs: 200 }), faultOf("timeout"));
  assert.ok(performance.now() - startedAt < 200 + SLACK_MS);
  await mirror.close();
  for (const socket of sockets) socket.destroy();
  server.close();
});

test("a reader that gives up is answered at once, and the node is not blamed", async () => {
  await withStubs([inSequence(hangs, ANSWERS), ANSWERS], async (mirror, [first, second]) => {
    const reader = new AbortController();
    const read = serialsOf(mirror, WALLET, A, { signal: reader.signal });
    while (first.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    reader.abort();
    await assert.rejects(read, faultOf("aborted"));
    await assert.rejects(
      serialsOf(mirror, WALLET, A, { signal: reader.signal }),
      faultOf("aborted"),
    );
    assert.deepEqual(await serialsOf(mirror, WALLET, A), [1, 2, 3]);
    assert.deepEqual([first.asked.length, second?.asked.length], [2, 0]);
  });
});

const PASSING: readonly [string, Reply][] = [
  ["429 as HTML", busyHtml],
  ["500", sends(500, "")],
  ["502 as HTML", sends(502, "<html>")],
  ["503", (response) => sendJson(response, 503, NOT_FOUND)],
  ["a connection reset", (response) => response.destroy()],
  [
    "an answer cut short",
    (response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("{");
      setImmediate(() => response.destroy());
    },
  ],
];
for (const [name, reply] of PASSING) {
  test(`${name} is asked again, and the answer then given counts`, async () => {
    await withStubs([inSequence(reply, reply, ANSWERS)], async (mirror, [stub]) => {
      assert.deepEqual(await serialsOf(mirror, WALLET, A, { deadlineMs: 2_500 }), [1, 2, 3]);
      assert.equal(stub.asked.length, 3);
    });
  });
}

test("what fails again and again is asked again until the deadline, and then that is the error", async () => {
  const deadlineMs = 1_500;
  const failing = PASSING.map(([name, reply]) =>
    withStubs([reply], async (mirror, [stub]) => {
      const fault = /429|50\d/.test(name) ? "busy" : "network";
      const startedAt = performance.now();
      await assert.rejects(serialsOf(mirror, WALLET, A, { deadlineMs }), faultOf(fault), name);
      assert.ok(performance.now() - startedAt > deadlineMs - 50, `${name}: given up early`);
      // How many attempts fit in is up to the machine.
      assert.ok(stub.asked.length > 1, `${name}: asked once`);
    }),
  );
  await Promise.all(failing);
});

test("a port without a listener is an error", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  const mirror = new MirrorClient({ urls: [`http://127.0.0.1:${port}`], log: silentLogger });
  await assert.rejects(mirror.account(WALLET), faultOf("network"));
  await mirror.close();
});

const redirects = sends(302, "", { location: "/elsewhere" });
for (const [name, fault, reply] of [
  ["a redirect", "redirect", redirects],
  ["a moved node", "redirect", sends(308, "", { location: "http://127.0.0.1:9/" })],
  ["HTML with status 200", "not-json", sends(200, "<html>Welcome</html>")],
  ["no bytes at all", "not-json", sends(200, "")],
  ["JSON cut in half", "not-json", sends(200, '{"nfts":[{"acc')],
  ["JSON of another shape", "schema", sends(200, "[]")],
  ["null", "schema", sends(200, "null")],
  ["a list that is none", "schema", sends(200, '{"nfts":{},"links":{"next":null}}')],
  ["no links", "schema", sends(200, '{"nfts":[]}')],
  ["a negative serial", "schema", page(nftRow(1), nftRow(-1))],
  ["serial 0", "schema", page(nftRow(0))],
  ["half a serial", "schema", page(nftRow(1.5))],
  ["a serial as text", "schema", page(nftRow(1, { serial_number: "1" }))],
  ["a serial beyond 2^53", "schema", page(nftRow(2 ** 53 + 2))],
  [
    "a serial that JSON numbers falsify",
    "schema",
    sends(
      200,
      JSON.stringify({ nfts: [nftRow(7)], links: { next: null } }).replace(
        ":7,",
        ":9007199254740993,",
      ),
    ),
  ],
  ["a row that does not say whether it is deleted", "schema", page(nftRow(1, { deleted: null }))],
  ["a row without owner field", "schema", page({ ...nftRow(1), account_id: undefined })],
  [
    "more rows than a page has",
    "schema",
    page(...Array.from({ length: 101 }, (_, i) => nftRow(i + 1))),
  ],
  ["only a part of the list (206)", "status", sends(206, '{"nfts":[],"links":{"next":null}}')],
  ["a list that is not found", "status", (response) => sendJson(response, 404, NOT_FOUND)],
  ["400", "status", (response) => sendJson(response, 400, NOT_FOUND)],
  ["403 as HTML", "status", sends(403, "<html>")],
  ["204", "status", sends(204, "")],
] as [string, MirrorFault, Reply][]) {
  test(`${name} is refused at once, and not asked again`, async () => {
    await withStubs([reply], async (mirror, [stub]) => {
      await assert.rejects(serialsOf(mirror, WALLET, A), faultOf(fault));
      assert.equal(stub.asked.length, 1);
    });
  });
}

test("something before the mirror node that says 404 does not make an account unknown", async () => {
  for (const reply of [
    sends(404, "<html>no backend</html>"),
    sends(404, '{"error":"x"}'),
    sends(404, ""),
  ]) {
    await withStubs([reply], (mirror) => assert.rejects(mirror.account(WALLET), faultOf("status")));
  }
  await withStubs([(response) => sendJson(response, 404, NOT_FOUND)], async (mirror) => {
    assert.equal(await mirror.account(WALLET), null);
    assert.equal(await mirror.isContract(WALLET), false);
    assert.deepEqual(await mirror.transactions(`${WALLET}@1.000000001`), []);
  });
});

for (const framing of ["with its length", "in chunks"]) {
  test(`a body of 50 MB, sent ${framing}, is dropped after a few`, async () => {
    const chunk = Buffer.alloc(64 * 1024, " ");
    let sentBytes = 0;
    const floods: Reply = (response) => {
      const size = 50 * 1024 * 1024;
      response.writeHead(200, framing === "in chunks" ? {} : { "content-length": String(size) });
      const more = (): void => {
        while (sentBytes < size && !response.destroyed) {
          sentBytes += chunk.length;
          if (!response.write(chunk)) return void response.once("drain", more);
        }
      };
      more();
    };
    await withStubs([floods], async (mirror, [stub]) => {
      const before = timers();
      await assert.rejects(serialsOf(mirror, WALLET, A), faultOf("too-long"));
      await nothingLeft(stub.connections, before);
      // What the client took, and what sockets hold in between.
      assert.ok(sentBytes < bounds.mirrorBodyBytesMax + 12 * 1024 * 1024, `${sentBytes} bytes`);
      assert.equal(stub.asked.length, 1);
    });
  });
}

test("a well-formed answer of more than 1 MiB is dropped too", async () => {
  const padding = "x".repeat(1024 * 1024);
  const page = { nfts: [], links: { next: null }, padding };
  await withStubs([(response) => sendJson(response, 200, page)], async (mirror) => {
    await assert.rejects(serialsOf(mirror, WALLET, A), faultOf("too-long"));
  });
});

test("a fault on the second page leaves no answer", async () => {
  const first = `/api/v1/accounts/${WALLET}/nfts?token.id=${A}&limit=100`;
  for (const [reply, fault] of [
    [sends(500, ""), "busy"],
    [sends(200, "{"), "not-json"],
    [page(nftRow(-1)), "schema"],
    [hangs, "timeout"],
  ] as [Reply, MirrorFault][]) {
    const firstPage: Reply = (response) =>
      sendJson(response, 200, {
        nfts: [nftRow(9)],
        links: { next: `${first}&serialnumber=lt:9` },
      });
    await withStubs([inSequence(firstPage, reply)], async (mirror) => {
      await assert.rejects(
        serialsOf(mirror, WALLET, A, { deadlineMs: reply === hangs ? 200 : 2_500 }),
        faultOf(fault),
      );
    });
  }
});

test("reads under way and waiting end at once when the client is closed", async () => {
  await withStubs([hangs], async (mirror, [stub]) => {
    const reads = Array.from({ length: 60 }, (_, i) => mirror.account(`0.0.${2_000 + i}`));
    const ended = Promise.all(reads.map((read) => read.catch((error) => error.fault)));
    while (stub.asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await mirror.close();
    // Fewer turns than the pause before a second attempt takes.
    const turns = async () => {
      for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    };
    assert.deepEqual(await Promise.race([ended, turns()]), Array(60).fill("network"));
  });
});

test("a read that ends between two attempts asks no more and blames no node", async () => {
  await withStubs([sends(500, "")], async (_mirror, [stub]) => {
    const transport = new MirrorTransport({ urls: [stub.url], log: silentLogger });
    const budget = new Budget({ deadlineMs: 60_000 });
    const asked = transport.list({ target: "/blocks", schema: blocksSchema }, budget);
    while (stub.asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
    // The second attempt is under way or has failed; either way there is no third.
    budget.end();
    await assert.rejects(asked, MirrorError);
    const count = stub.asked.length;
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.equal(stub.asked.length, count);
    await transport.close();
  });
});

test("an answer about something else is refused", async () => {
  const account = { account: "0.0.1002", deleted: false, key: null };
  await withStubs([(response) => sendJson(response, 200, account)], (mirror) =>
    assert.rejects(mirror.account(WALLET), faultOf("schema")),
  );
  for (const other of [nftRow(2), nftRow(1, { token_id: "0.0.5002" })]) {
    await withStubs([(response) => sendJson(response, 200, other)], (mirror) =>
      assert.rejects(mirror.nft(A, 1), faultOf("schema")),
    );
  }
});

test("nothing that is not a canonical id is put into a path", async () => {
  await withStubs([ANSWERS], async (mirror, [stub]) => {
    for (const id of ["1001", "0.0.1001/../x", "0.0.1001-vfmkw", "0.0.0", "", "0.0.1001?x=1"]) {
      await assert.rejects(mirror.account(id), RangeError);
      await assert.rejects(serialsOf(mirror, id, A), RangeError);
      await assert.rejects(serialsOf(mirror, WALLET, id), RangeError);
      await assert.rejects(mirror.topicMessages(id, {}), RangeError);
      await assert.rejects(mirror.transactions(id), RangeError);
    }
    await assert.rejects(mirror.nft(A, 0), RangeError);
    await assert.rejects(mirror.topicMessage(A, 1.5), RangeError);
    assert.deepEqual(stub.asked, []);
  });
});

test("an error names the path and the fault, and no host or secret", async () => {
  await withStubs([sends(500, "secret stack")], async (mirror, [stub]) => {
    const error = await mirror.account(WALLET, { deadlineMs: 2_000 }).catch((thrown) => thrown);
    assert.match(error.message, /accounts\/0\.0\.1001.*HTTP 500/);
    assert.ok(!error.message.includes("secret") && !error.message.includes(new URL(stub.url).port));
  });
});

test.run();
