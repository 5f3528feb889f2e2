// timeout: 300 s
/**
 * `npm start` with settings of the caller's own: what runs beside it finds it, and a port or a
 * folder in use is reported before anything is started. Method: real processes in a folder of their
 * own.
 */
import * as assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { suite } from "uvu";
import { COLLECTION_SETTINGS } from "../../src/config.ts";
import { freePort } from "../../src/local/free-port.ts";
import { openPostgres } from "../../src/store/postgres.ts";
import { testDatabase } from "../support/postgres.ts";
import { type Child, startProcess, until } from "../support/processes.ts";
import { testRedis } from "../support/redis.ts";
import { nodeArguments } from "../support/script.ts";
import { starboard } from "../support/starboard.ts";

interface Context {
  folder: string;
  port: number;
  child: Child;
}
const test = suite<Context>("npm start");
test.before(async (context) => {
  context.folder = mkdtempSync(join(tmpdir(), "starboard-dev-"));
  context.port = 0;
  await start(context);
  context.port = Number(/Directory +http:\/\/127\.0\.0\.1:(\d+)/.exec(context.child.said())?.[1]);
});
test.after(async ({ child, folder }) => {
  await child.stop();
  rmSync(folder, { recursive: true, force: true });
});

const environmentOf = ({ folder }: Pick<Context, "folder">): string =>
  join(folder, ".starboard", "environment.json");

async function start(
  context: Context,
  command: readonly string[] = ["dev"],
  up = "Starboard is up",
  given: Readonly<Record<string, string>> = {},
): Promise<void> {
  const child = startProcess(
    command,
    { PORT: String(context.port), DEMO_VOTERS: "off", ...given },
    context.folder,
  );
  context.child = child;
  let ended = false;
  void child.exited.then(() => {
    ended = true;
  });
  await until("the start", () => child.said().includes(up) || ended, 120_000);
  assert.ok(!ended, child.log());
}

/** Where a start says that Postgres and the mirror node are. */
const addresses = (said: string): readonly string[] =>
  said.match(/^ {2}(Mirror node|Postgres) .*$/gm) ?? [];

/** Runs a sample in a shell; an answer that is an error ends it. */
function paste(
  source: string,
  { key, folder }: { readonly key: string; readonly folder: string },
): Promise<{ readonly status: number; readonly output: string }> {
  const entry = fileURLToPath(new URL("../../src/processes/starboard.ts", import.meta.url));
  const node = [process.execPath, ...nodeArguments(entry)].map((word) => `'${word}'`).join(" ");
  const script = `set -eo pipefail
curl() {
  case "$*" in
    # It has no end: an answer that goes on is a good one.
    */voting/live*) command curl --silent --fail-with-body --max-time 2 "$@" || [ $? = 28 ] ;;
    *) command curl --silent --show-error --fail-with-body "$@" ;;
  esac
}
npx() { shift; ${node} "$@"; }
${source}`;
  const { PATH = "", HOME = "" } = process.env;
  const env = { PATH, HOME, STARBOARD_API_KEY: key };
  return new Promise((resolve) => {
    execFile("bash", ["-c", script], { cwd: folder, env }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code ?? 1), output: stdout + stderr }),
    );
  });
}

/** How many attributions each forever mint has lost. */
async function releases(folder: string): Promise<readonly { removed: number }[]> {
  const { DATABASE_URL } = JSON.parse(
    readFileSync(join(folder, ".starboard", "environment.json"), "utf8"),
  );
  const sql = openPostgres(DATABASE_URL, { connections: 1 });
  const rows = await sql<{ removed: number }[]>`
    select count(*)::integer as removed from claim_release group by event_id`;
  await sql.end({ timeout: 1 });
  return rows;
}

test("PORT 0 is any free one, and the public URL names it", async ({ port }) => {
  assert.ok(port > 0);
  const config = await (await fetch(`http://127.0.0.1:${port}/voting/config`)).json();
  assert.equal((config as { publicUrl: string }).publicUrl, `http://127.0.0.1:${port}`);
});

test("commands beside it find the port that it has", async (context) => {
  const announced = JSON.parse(readFileSync(environmentOf(context), "utf8"));
  assert.equal(announced.PORT, String(context.port));
  const { status, stderr } = await starboard(["demo"], {}, context.folder);
  assert.equal(status, 0, stderr);
});

test("the key and the sign-in link that a start issues are in the operator log", async ({
  folder,
}) => {
  const { status, stdout } = await starboard(["operators", "log", "--json"], {}, folder);
  assert.equal(status, 0);
  const lines = JSON.parse(stdout) as readonly { action: string; phase: string; subject: string }[];
  for (const action of ["keys.issue", "session.link"]) {
    const phases = lines.filter((line) => line.action === action && line.subject === "npm start");
    assert.deepEqual(
      phases.map(({ phase }) => phase),
      ["done"],
      action,
    );
  }
  assert.ok(!stdout.includes("once="));
});

test("a first start has past days that an outside audit accepts, and content on every page", async (context) => {
  const { port, folder, child } = context;
  const url = `http://127.0.0.1:${port}`;
  const key = /Demo API key +(\S+)/.exec(child.said())?.[1] ?? "";
  const line = /npx starboard audit .*/.exec(child.said())?.[0] ?? "no line for the audit";
  const audit = await paste(`${line} --json`, { key, folder });
  assert.equal(audit.status, 0, audit.output);
  assert.match(audit.output, /"messages": ?\d{3}/);
  const get = async (path: string) =>
    (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })).json();
  const days = ((await get("/exports")) as { exports: { final: boolean }[] }).exports;
  assert.equal(days.filter(({ final }) => final).length, 6);
  const board = (await get("/v1/leaderboard")) as { season: object | null; leaderboard: object[] };
  assert.ok(board.season !== null && board.leaderboard.length > 10);

  const read = async <T>(...words: string[]) =>
    (await starboard([...words, "--json"], {}, folder)).json<T>();
  const passes = await read<object[]>("premium", "list");
  assert.ok(passes.length >= 2);
  const projects = await read<{ approvedAt: string | null }[]>("catalog", "list", "project");
  assert.equal(projects.filter(({ approvedAt }) => approvedAt === null).length, 1);
  const [{ removed } = { removed: -1 }] = await releases(folder);
  assert.equal(removed, 1);
  const replay = await starboard(["actors", "replay", "forever-mint/open-sea-forever"], {}, folder);
  assert.equal(replay.status, 0, replay.stdout);
});

test("every sample of /docs and of README works when pasted", async ({ port, folder, child }) => {
  const url = `http://127.0.0.1:${port}`;
  const page = await (await fetch(`${url}/docs`)).text();
  const guide = [...page.matchAll(/<code class="sh">([^<]*)</g)].map(([, text = ""]) =>
    text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&"),
  );
  const document = (await (await fetch(`${url}/v1/openapi.json`)).json()) as {
    paths: Record<string, { get: { "x-codeSamples": { lang: string; source: string }[] } }>;
  };
  const operations = Object.values(document.paths).flatMap(({ get }) =>
    get["x-codeSamples"].filter(({ lang }) => lang === "Shell").map(({ source }) => source),
  );
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const blocks = [...readme.matchAll(/```sh\n([^`]*)```/g)]
    .map(([, text = ""]) => text.replaceAll("http://127.0.0.1:3000", url))
    .filter((text) => text.includes("curl"));
  assert.ok(guide.length >= 6 && operations.length >= 8 && blocks.length >= 2);
  const key = /Demo API key +(\S+)/.exec(child.said())?.[1] ?? "";
  for (const source of [...guide, ...operations, ...blocks]) {
    const { status, output } = await paste(source, { key, folder });
    assert.equal(status, 0, `${source}\n${output}`);
  }
});

test("a second start in the same folder says where the first one runs", async (context) => {
  const port = String(await freePort());
  const { status, stderr } = await starboard(["dev"], { PORT: port }, context.folder);
  assert.equal(status, 1);
  assert.match(stderr, new RegExp(`Starboard runs there, at http://127.0.0.1:${context.port}`));
});

test("the addresses of Postgres and the mirror node stay from start to start; the demo's key does not", async (context) => {
  const [lastKey = ""] = /starboard_live_\w{36}/.exec(context.child.said()) ?? [];
  const first = addresses(context.child.said());
  assert.equal(first.length, 2, context.child.said());
  assert.doesNotMatch(first.join(), /:[^/@]+@/);
  await context.child.stop();
  await start(context, ["dev", "--json"], "}\n");
  const { url, consoleUrl, mirrorNodeUrl, databaseUrl, apiKey } = JSON.parse(context.child.said());
  for (const address of [mirrorNodeUrl, databaseUrl]) assert.ok(first.join().includes(address));
  assert.equal(url, `http://127.0.0.1:${context.port}`);
  assert.ok(consoleUrl.startsWith(`${url}/ops`));
  const ask = async (key: string) => {
    const reply = await fetch(`${url}/v1/events`, { headers: { authorization: `Bearer ${key}` } });
    const { code } = (await reply.json()) as { code?: string };
    return [reply.status, code];
  };
  assert.deepEqual(await ask(apiKey), [200, undefined]);
  assert.deepEqual(await ask(lastKey), [401, "REVOKED_API_KEY"]);
});

test("a Postgres and a Redis that are given are used, and none of its own is started", async () => {
  const [database, redis] = await Promise.all([testDatabase(), testRedis({ own: true })]);
  const folder = mkdtempSync(join(tmpdir(), "starboard-dev-"));
  const own = { folder, port: 0 } as Context;
  await start(own, ["dev"], "Starboard is up", {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
  });
  const [row] = await database.sql`select count(*)::integer as stars from star`;
  assert.ok(row?.stars > 0);
  for (const name of ["postgres", "redis"])
    assert.equal(existsSync(join(folder, ".starboard", name)), false, name);
  assert.equal(await own.child.stop(), 0);
  rmSync(folder, { recursive: true });
  await Promise.all([database.close(), redis.close()]);
});

test("bad addresses, a bad key, and missing settings of another ledger, are refused before anything is started or made", async () => {
  const folder = mkdtempSync(join(tmpdir(), "starboard-dev-"));
  const ledger = [
    ...["MIRROR_NODE_URL", "HEDERA_OPERATOR_ID", "HEDERA_OPERATOR_KEY"],
    ...["EVENT_VOTES_TOPIC_ID", "ASSET_VOTES_TOPIC_ID", ...COLLECTION_SETTINGS],
  ];
  const missing = ledger.map((name) => `${name} is missing`).join("; ");
  for (const [set, said] of [
    [{ HOST: "0.0.0.0" }, "PUBLIC_URL is missing: HOST is not a loopback address"],
    [{ TRUSTED_PROXIES: "10.0.0.0/33" }, "TRUSTED_PROXIES: 10.0.0.0/33 is no range"],
    [{ HEDERA_NETWORK: "testnet" }, missing],
    [
      { HEDERA_OPERATOR_KEY: "ab".repeat(33) },
      "cannot start: HEDERA_OPERATOR_KEY is no private key in DER or raw hex",
    ],
  ] as const) {
    const { status, stderr } = await starboard(["dev"], set, folder);
    assert.deepEqual([status, stderr], [1, `starboard: ${said}\n`]);
    assert.equal(existsSync(join(folder, ".starboard")), false);
  }
  rmSync(folder, { recursive: true });
});

test("a port in use is reported before anything is started; a killed start's address is forgotten", async () => {
  const folder = mkdtempSync(join(tmpdir(), "starboard-dev-"));
  const stale = environmentOf({ folder });
  mkdirSync(join(folder, ".starboard"));
  writeFileSync(stale, "{}");
  const server = createServer();
  const port = await new Promise<number>((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  const { status, stderr } = await starboard(["dev"], { PORT: String(port) }, folder);
  assert.equal(status, 1);
  assert.match(stderr, new RegExp(`PORT ${port} of 127.0.0.1 is in use`));
  assert.equal(existsSync(join(folder, ".starboard", "postgres")), false);
  // Else a start beside this one, or a command, is sent to where nothing answers.
  assert.equal(existsSync(stale), false);
  server.close();
  rmSync(folder, { recursive: true });
});

test("a folder that takes no lock is no running service, though a killed start has announced one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "starboard-dev-"));
  // As on a full disk, or in a folder that is read-only, for root too.
  mkdirSync(join(folder, ".starboard", "server.lock"), { recursive: true });
  writeFileSync(environmentOf({ folder }), '{"PORT":"3000"}');
  const { status, stderr } = await starboard(["dev"], {}, folder);
  assert.equal(status, 1);
  assert.match(stderr, /^starboard: cannot start: [^\n]*server\.lock[^\n]*\n$/);
  assert.doesNotMatch(stderr, /runs there/);
  rmSync(folder, { recursive: true });
});

test("a demo without a service says what to look at", async ({ folder }) => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { status, stderr } = await starboard(["demo", "--url", url], {}, folder);
  assert.equal(status, 1);
  assert.ok(stderr.includes(`Nothing answers at ${url}: is \`npm start\` running?`), stderr);
});

test("a damaged file of the ledger's keys and topics ends the start: no other topics take their place", async (context) => {
  await context.child.stop();
  const file = join(context.folder, ".starboard", "ledger.json");
  const kept = readFileSync(file, "utf8");
  writeFileSync(file, kept.slice(0, -10));
  const port = String(await freePort());
  const { status, stderr } = await starboard(["dev"], { PORT: port }, context.folder);
  assert.deepEqual([status, stderr.includes(`${file} is gone or damaged`)], [1, true], stderr);
  assert.equal(readFileSync(file, "utf8"), kept.slice(0, -10));
});

test("stars that are on another ledger than the folder's end the start: nothing is sent to it", async (context) => {
  await context.child.stop();
  const own = join(context.folder, ".starboard");
  for (const name of ["ledger", "ledger.json"]) rmSync(join(own, name), { recursive: true });
  const port = String(await freePort());
  const { status, stderr } = await starboard(["dev"], { PORT: port }, context.folder);
  assert.equal(status, 1);
  assert.match(
    stderr,
    /^starboard: cannot start: the stars of this database are on another ledger/,
  );
  assert.equal(existsSync(join(own, "ledger.json")), false);
});

test.run();
