import type { Hono } from "hono";
import { DAY_MS, type Day, dayOf, startOfDay } from "../../actors/day.ts";
import { createApp } from "../../src/http/app.ts";
import { type ExportRoutesDeps, exportRoutes } from "../../src/http/exports/routes.ts";
import { type ExportLine, exportLine } from "../../src/journal/export-format.ts";
import type { ExportSettings } from "../../src/journal/export-settings.ts";
import { silentLogger } from "../../src/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { openPostgres, type Sql } from "../../src/store/postgres.ts";
import type { ExportsDeps } from "../../src/upkeep/finalize-exports.ts";
import { type Engine, seedDirectory, startEngine } from "./engine.ts";
import { testDatabase } from "./postgres.ts";

/** A journal whose days pass at a word, and processes that export it. */
export interface ExportRig {
  readonly url: string;
  /** As the owner: may do what the service may not. */
  readonly owner: Sql;
  /** As an exporting process: the restricted role, look-ups by key. */
  readonly sql: Sql;
  readonly engine: Engine;
  /** The journal's days: the first is tomorrow, for there the partitions are. */
  day(number: number): Day;
  /** Sets the database's clock: so many ms into a day, counted from 1; it goes on from there. */
  setClock(number: number, ms: number): Promise<void>;
  /** What a worker's upkeep of this journal is given. */
  readonly upkeep: ExportsDeps;
  /** Marks every star as published, in the journal's order. */
  publish(): Promise<void>;
  /** Another process' answers, without a socket. */
  app(): Hono;
  close(): Promise<void>;
}

export const SETTINGS: ExportSettings = {
  network: "local",
  topics: { event: "0.0.501", asset: "0.0.502" },
  collections: { a: { id: "0.0.601", key: "alpha" }, b: { id: "0.0.602", key: "beta" } },
  excludedWallets: ["0.0.999"],
  xpPerStar: 1,
};

export async function startExportRig(): Promise<ExportRig> {
  const database = await testDatabase({ migrated: true });
  const owner = openPostgres(database.url, { connections: 2 });
  await seedDirectory(owner);
  const pool = (): Sql =>
    openPostgres(database.url, { connections: 2, byKey: true, role: "starboard_app" });
  const engine = await startEngine(database.url);
  const first = startOfDay(dayOf(Date.now())) + DAY_MS;
  const sql = pool();
  const pools = [sql];
  return {
    url: database.url,
    owner,
    sql,
    engine,
    upkeep: { sql, log: silentLogger, settings: SETTINGS },
    day: (number) => dayOf(first + (number - 1) * DAY_MS),
    async setClock(number, ms) {
      const at = first + (number - 1) * DAY_MS + ms;
      await owner.unsafe(`
        create or replace function now_ms() returns bigint language sql volatile as $$
          select ${at - Date.now()} + floor(extract(epoch from clock_timestamp()) * 1000)::bigint $$`);
    },
    publish: () => publishAll(owner),
    app() {
      const own = pool();
      pools.push(own);
      return appOf(own);
    },
    async close() {
      await engine.close();
      await Promise.all([owner, ...pools].map((each) => each.end({ timeout: 1 })));
      await database.close();
    },
  };
}

/** An app that answers `/exports` and nothing else. */
export function appOf(
  sql: Sql,
  limit = 1_000_000,
  client = () => "127.0.0.1",
  given: Pick<ExportRoutesDeps, "leastRate"> = {},
): Hono {
  const metrics = createMetrics();
  const clock = { now: () => Date.now() };
  const routes = exportRoutes({
    sql,
    settings: SETTINGS,
    log: silentLogger,
    limit,
    client,
    clock,
    metrics,
    ...given,
  });
  return createApp({ log: silentLogger, metrics, mounts: [{ path: "/exports", app: routes }] });
}

async function publishAll(owner: Sql): Promise<void> {
  await owner`
    update outbox set state = 'published', topic_id = case topic when 'event' then '0.0.501' else '0.0.502' end,
      transaction_id = '0.0.2@1.' || lpad(seq::text, 9, '0'), sequence_number = seq,
      consensus_timestamp = '1.' || lpad(seq::text, 9, '0'), running_hash = 'aGFzaA=='
    from star where star.id = star_id and state <> 'published'`;
}

/** The lines of an export, each as its schema says. */
export function linesOf(text: string): ExportLine[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => exportLine.parse(JSON.parse(line)));
}

/** Those of one kind. */
export function ofKind<K extends ExportLine["kind"]>(
  text: string,
  kind: K,
): Extract<ExportLine, { kind: K }>[] {
  return linesOf(text).filter(
    (line): line is Extract<ExportLine, { kind: K }> => line.kind === kind,
  );
}
