/**
 * `docs/operating/upgrade.md`: from this release to one with another migration and back, while
 * wallets star through both web processes; every star that was acknowledged is stored and published once.
 */
import * as assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../../src/local/free-port.ts";
import { compileTree } from "../../support/compile.ts";
import { temporaryFolder } from "../../support/folder.ts";
import { startNetwork } from "../../support/network.ts";
import { until } from "../../support/processes.ts";
import { newWallet, send, signIn } from "../../support/service.ts";
import { createChecker } from "../check.ts";
import { openServers, requirePrograms } from "../postgres-servers.ts";
import { blocksOf, openMachine, untilReady } from "./machine.ts";

/** What a next release may add to tables that this one writes. */
const NEXT_MIGRATION = `
alter table star add column next_note text;
alter table outbox add column next_count integer not null default 0;
create table next_release (id uuid primary key);
`;

const servers = openServers(temporaryFolder("upgrade"), requirePrograms());
const [migrate = "", replace = "", look = "", goBack = "", ...more] = blocksOf("upgrade");
assert.deepEqual(more, []);
const server = await servers.create("server");
process.env.STARBOARD_TEST_DATABASE_URL = server.urlOf("postgres");
const network = await startNetwork();
const next = await compileTree();
writeFileSync(join(next, "migrations/999.do.next.sql"), NEXT_MIGRATION);
const about = JSON.parse(readFileSync(join(next, "package.json"), "utf8"));
writeFileSync(join(next, "package.json"), JSON.stringify({ ...about, version: "99.0.0" }));
const machine = await openMachine(servers);
machine.addRelease("starboard-2", [join(next, "src/processes/starboard.js")]);

let isOver = false;
let refused = 0;
const acknowledged: string[] = [];

/** Stars that go on, each repeated under its key at one web process or the other until it is accepted. */
async function vote(urls: readonly string[]): Promise<void> {
  for (let turn = 0; !isOver; turn += 1) {
    const wallet = await newWallet(network);
    const token = await patiently(() => signIn({ url: urls[turn % 2] ?? "" }, wallet));
    for (const id of ["0.0.9001", "0.0.9002", "0.0.9003"]) {
      const headers = { "idempotency-key": randomUUID() };
      const json = { target: { type: "token", id } };
      const star = await patiently(async () => {
        turn += 1;
        const reply = await send({ url: urls[turn % 2] ?? "" }, "POST /voting/stars", {
          token,
          json,
          headers,
        });
        if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`);
        return reply.body.star.id as string;
      });
      acknowledged.push(star);
    }
  }
}

/** Tries again for a minute, as a client does. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      refused += 1;
      if (tries === 300) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

try {
  const { HEDERA_OPERATOR_KEY = "", ...settings } = network.settings;
  const webs = [await freePort(), await freePort()];
  const workers = [await freePort(), await freePort()];
  machine.configure("starboard.env", settings);
  machine.configure("operator.env", { HEDERA_OPERATOR_KEY });
  Object.assign(machine.env, settings, { WEBS: webs.join(" "), WORKERS: workers.join(" ") });
  await machine.run(`
    for port in $WORKERS; do systemctl start "starboard-work@$port"; done
    for port in $WEBS; do systemctl start "starboard-serve@$port"; done`);
  for (const port of webs) await untilReady(port);
  const urls = webs.map((port) => `http://127.0.0.1:${port}`);
  const voting = Promise.all([vote(urls), vote(urls), vote(urls)]);
  voting.catch(() => undefined);
  const moreStars = async (what: string): Promise<void> => {
    const before = acknowledged.length;
    await until(what, () => acknowledged.length >= before + 10, 60_000);
  };
  await moreStars("the old release takes stars");
  await machine.run(migrate);
  await moreStars("the old release takes stars on the new schema");
  await machine.run(replace);
  await moreStars("the new release takes stars");
  assert.match(await machine.run(look), /99\.0\.0/);
  await machine.run(goBack);
  await moreStars("the old release takes stars again");
  isOver = true;
  await voting;
  const { sql, hedera, topics } = network;
  await until(
    "every star is published",
    async () => {
      const [row] = await sql`select count(*) as left from outbox where state <> 'published'`;
      return row?.left === 0;
    },
    120_000,
  );
  const rows = await sql`select id from star order by id`;
  assert.deepEqual(
    rows.map(({ id }) => id),
    [...acknowledged].sort(),
  );
  const { messages } = await createChecker({ sql, mirrorUrl: hedera.mirrorUrl, topics }).check();
  assert.equal(messages, acknowledged.length);
  process.stdout.write(
    `${acknowledged.length} stars, ${refused} tries again, none lost, none twice\n`,
  );
} finally {
  isOver = true;
  await machine.close();
  await network.close();
  servers.close();
  rmSync(next, { recursive: true, force: true });
}
