/**
 * Goal: the voting client and the service understand each other. Method: the client signs in with
 * real keys at a web process on real parts, by token and by cookie, and does everything it can; an
 * answer is lost on the way.
 */
import * as assert from "node:assert/strict";
import { suite } from "uvu";
import {
  StarboardError,
  type StarTarget,
  type VotingErrorCode,
  voting,
} from "../../../packages/client/src/index.ts";
import { signerOf } from "../../../src/cli/demo-wallet.ts";
import { newWallet, type Service, startService } from "../../support/service.ts";

const SOUP = { type: "token", id: "0.0.9001" } as const;
const MEETUP = { type: "event", id: "meetup" } as const;

const test = suite<{ service: Service }>("voting client");
test.before(async (context) => {
  context.service = await startService();
});
test.after((context) => context.service.close());

const codeOf = (error: unknown): VotingErrorCode | string | null =>
  error instanceof StarboardError ? error.code : String(error);

for (const type of ["ed25519", "ecdsa"] as const) {
  test(`a wallet with an ${type} key signs in, votes, and sees what it did`, async ({
    service,
  }) => {
    const wallet = await newWallet(service, { type, a: 2, b: 1 });
    const client = voting({ baseUrl: service.url });
    const session = await client.signIn(signerOf(wallet));
    assert.equal(session.wallet, wallet.id);
    const preview = await client.preview(MEETUP);
    const { star, allowance, counter } = await client.star(MEETUP);
    const power: number = star.votingPower;
    assert.deepEqual([power, preview.weight], [8, star.weight]);
    assert.ok(counter.totalVotes >= star.weight);
    assert.equal(allowance.remaining, 4);
    assert.equal((await client.allowance()).used, 1);
    assert.deepEqual(
      (await client.stars()).map(({ id }) => id),
      [star.id],
    );
    assert.equal((await client.receipt(star.id)).publication.state, "stored");
    await assert.rejects(client.star(MEETUP), (error: StarboardError) => {
      assert.deepEqual([error.code, error.starId], ["ALREADY_STARRED", star.id]);
      return true;
    });
    await client.signOut();
    assert.equal(codeOf(await client.allowance().catch(Object)), "MISSING_SESSION");
    const { token = "" } = session;
    const ended = voting({ baseUrl: service.url, token });
    assert.equal(codeOf(await ended.allowance().catch(Object)), "INVALID_SESSION");
  });
}

test("what can be starred is listed with the fields of its type", async ({ service }) => {
  const client = voting({ baseUrl: service.url });
  const { items: tokens, total } = await client.items({ type: "token", q: "token 9001" });
  const symbol: string | undefined = tokens[0]?.symbol;
  assert.deepEqual([symbol, total], ["T9001", 1]);
  const { items: events } = await client.items({ type: "event", eventType: "MINT_EVENT" });
  assert.equal(events[0]?.isForeverMint, true);
  // @ts-expect-error: an event has no symbol
  assert.equal(events[0]?.symbol, undefined);
  // @ts-expect-error: there is no such parameter
  await assert.rejects(client.items({ type: "token", limt: 5 }), { field: "limt" });
  const { chainId, demoWallets } = await client.config();
  assert.deepEqual([chainId, demoWallets], ["hedera:local", false]);
});

test("a star whose commit is confirmed too late is answered 503, stands, and its key gives it", async ({
  service,
}) => {
  // Commits of one star take longer than its statement may: its triggers run as it commits.
  await service.sql.unsafe(`
    create sequence late_commit;
    create function commit_late() returns trigger language plpgsql security definer as $$
    begin
      if nextval('public.late_commit') = 1 then perform pg_sleep(3.2); end if;
      return null;
    end $$;
    create constraint trigger late after insert on outbox deferrable initially deferred
      for each row execute function commit_late()`);
  const keys = new Set<string | null>();
  const statuses: number[] = [];
  const client = voting({
    baseUrl: service.url,
    fetch: async (url, init) => {
      const reply = await fetch(url, init);
      if (!String(url).endsWith("/stars")) return reply;
      keys.add(new Headers(init?.headers).get("idempotency-key"));
      statuses.push(reply.status);
      return reply;
    },
  });
  try {
    await client.signIn(signerOf(await newWallet(service)));
    const { star, allowance } = await client.star(SOUP);
    assert.deepEqual([statuses[0], statuses.at(-1), keys.size], [503, 201, 1]);
    assert.equal(allowance.used, 1);
    const given = await client.stars();
    assert.deepEqual(
      given.map(({ id }) => id),
      [star.id],
    );
  } finally {
    await service.sql`drop trigger late on outbox`;
  }
});

test("a star whose answer is lost is sent again, and is one star", async ({ service }) => {
  const wallet = await newWallet(service);
  let lost = 0;
  const client = voting({
    baseUrl: service.url,
    retry: { attempts: 3, waitMs: 1 },
    fetch: async (url, init) => {
      const reply = await fetch(url, init);
      if (!String(url).endsWith("/stars") || lost > 0) return reply;
      lost += 1;
      throw new TypeError("fetch failed");
    },
  });
  await client.signIn(signerOf(wallet));
  const { allowance } = await client.star(SOUP);
  assert.deepEqual([lost, allowance.used], [1, 1]);
  assert.equal((await client.stars()).length, 1);
});

test("a key that no header can carry is refused at once", async () => {
  const client = voting({ baseUrl: "http://127.0.0.1:1", retry: { waitMs: 60_000 } });
  const given = { idempotencyKey: "two\nlines", signal: AbortSignal.timeout(5_000) };
  await assert.rejects(client.star(SOUP, given), TypeError);
  assert.equal(given.signal.aborted, false, "it waited for another try");
});

test("live sends a star's counter, and goes on at another process after the last id", async ({
  service,
}) => {
  const voter = voting({ baseUrl: service.url });
  await voter.signIn(signerOf(await newWallet(service)));
  const other = await service.another();
  const listener = voting({ baseUrl: other.url });
  const next = async (target: StarTarget, lastEventId = ""): Promise<string> => {
    let onOpen: () => void = () => undefined;
    const isOpen = new Promise<void>((resolve) => {
      onOpen = resolve;
    });
    const live = listener.live({ lastEventId, onOpen });
    // The first reading opens the stream, and waits for the star.
    const first = live.next();
    await isOpen;
    await voter.star(target);
    const { value } = await first;
    assert.ok(value?.event === "counter");
    assert.equal(value.data.id, target.id);
    await live.return();
    return value.lastEventId;
  };
  const position = await next({ type: "token", id: "0.0.9011" });
  await next({ type: "token", id: "0.0.9012" }, position);
});

test("by cookie a client of our own page votes, and no request shows a token", async ({
  service,
}) => {
  let cookie = "";
  const client = voting({
    baseUrl: service.url,
    cookie: true,
    // As a browser does on a page of the service.
    fetch: async (url, init) => {
      const headers = new Headers(init?.headers);
      assert.equal(headers.get("authorization"), null);
      if (cookie !== "") headers.set("cookie", cookie);
      if ((init?.method ?? "GET") !== "GET") headers.set("origin", service.url);
      const reply = await fetch(url, { ...init, headers });
      const set = reply.headers.get("set-cookie");
      if (set !== null) cookie = set.split(";")[0] ?? "";
      return reply;
    },
  });
  const session = await client.signIn(signerOf(await newWallet(service)));
  assert.equal(session.token, undefined);
  assert.equal((await client.star(SOUP)).allowance.used, 1);
  await client.signOut();
  assert.equal(cookie, "starboard=");
  assert.equal(codeOf(await client.allowance().catch(Object)), "MISSING_SESSION");
});

test.run();
