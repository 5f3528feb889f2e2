import type { Settings } from "../../config.ts";
import { RetryableError } from "../../errors.ts";
import { schemaState } from "../../store/migrate.ts";
import { appRole, openPostgres, ownsTables, runStatement, type Sql } from "../../store/postgres.ts";
import { type Finding, reasonOf, unset, well, wrong } from "./finding.ts";

interface Server {
  readonly version: number;
  readonly fsync: string;
  readonly synchronousCommit: string;
  readonly fullPageWrites: string;
  readonly isReplica: boolean;
  readonly connections: number;
}

/** Older ones lack what the migrations use. */
const VERSION_MIN = 140_000;
/** More than a request may take: the one who asks here can wait. */
const STATEMENT_WITHIN_MS = 5_000;
/** A web process opens 27 connections at most and a worker 13. */
const CONNECTIONS_MIN = 40;

/** Postgres: whether it answers, keeps what it took, and has this build's schema and role. */
export async function checkPostgres({ DATABASE_URL, HEDERA_NETWORK }: Settings): Promise<Finding> {
  if (DATABASE_URL === undefined) return unset("DATABASE_URL");
  const sql = openPostgres(DATABASE_URL, { connections: 1 });
  try {
    const server = await readServer(sql);
    const schema = await runStatement(schemaState(sql), STATEMENT_WITHIN_MS);
    return judgeSchema(schema) ?? judgeServer(server, HEDERA_NETWORK) ?? (await judgeLogin(sql));
  } catch (error) {
    return unreachable(error);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function readServer(sql: Sql): Promise<Server> {
  const asking = sql<Server[]>`
    select current_setting('server_version_num')::int as version,
      current_setting('fsync') as fsync,
      current_setting('synchronous_commit') as "synchronousCommit",
      current_setting('full_page_writes') as "fullPageWrites",
      pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "isReplica",
      current_setting('max_connections')::int as connections`;
  const [server] = await runStatement(asking, STATEMENT_WITHIN_MS);
  if (server === undefined) throw new Error("the database did not answer with its settings");
  return server;
}

function judgeSchema(schema: Awaited<ReturnType<typeof schemaState>>): Finding | undefined {
  if (schema === "old") {
    return wrong("the schema is older than this build", "run `starboard migrate`");
  }
  if (schema === "other") {
    return wrong(
      "the database was made by another build and cannot be upgraded",
      "create an empty one, set DATABASE_URL to it and run `starboard migrate`",
    );
  }
  return undefined;
}

function judgeServer(server: Server, network: Settings["HEDERA_NETWORK"]): Finding | undefined {
  if (server.version < VERSION_MIN) {
    return wrong(
      `Postgres ${Math.floor(server.version / 10_000)} is too old`,
      "use Postgres 14 or newer",
    );
  }
  if (server.isReplica) {
    return wrong("this Postgres takes no writes", "set DATABASE_URL to the primary");
  }
  if (server.connections < CONNECTIONS_MIN) {
    return wrong(
      `max_connections is ${server.connections}: too few for a web process and a worker`,
      `raise max_connections to ${CONNECTIONS_MIN} or more`,
    );
  }
  const careless = Object.entries({
    fsync: server.fsync,
    synchronous_commit: server.synchronousCommit,
    full_page_writes: server.fullPageWrites,
  }).filter(([, value]) => value === "off");
  // A crash may lose the last commits of a local ledger, which holds no real money.
  if (careless.length === 0 || network === "local") return undefined;
  const names = careless.map(([name]) => name).join(", ");
  return wrong(`${names} off: accepted stars can be lost`, `turn ${names} on`);
}

async function judgeLogin(sql: Sql): Promise<Finding> {
  if ((await runStatement(appRole(sql), STATEMENT_WITHIN_MS)) === undefined) {
    return wrong(
      "this login is no member of the role starboard_app: triggers alone guard the journal",
      "as the tables' owner: grant starboard_app to this login",
    );
  }
  const owns = await runStatement(ownsTables(sql), STATEMENT_WITHIN_MS);
  return well(
    owns
      ? "answers, schema and role are in order; this login owns the tables, which serve and work need not"
      : "answers, schema, role and settings are in order",
  );
}

const UNKNOWN_DATABASE = "3D000";

function unreachable(error: unknown): Finding {
  const message = reasonOf(error);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (error instanceof RetryableError) {
    return wrong(message, "start Postgres, and see that DATABASE_URL names its host and port");
  }
  if (code === UNKNOWN_DATABASE) {
    return wrong(message, "create the database, then run `starboard migrate`");
  }
  if (code.startsWith("28")) {
    return wrong(message, "see the user and the password in DATABASE_URL");
  }
  return wrong(message, "see Postgres' own log");
}
