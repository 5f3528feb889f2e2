import { ConfigurationError, type Settings } from "../../config.ts";
import { RetryableError } from "../../errors.ts";
import { checkLastingSettings } from "../../journal/export-settings.ts";
import { schemaState } from "../../store/migrate.ts";
import {
  appRole,
  codeOf,
  ownsTables,
  runFirst,
  type Sql,
  withPostgres,
} from "../../store/postgres.ts";
import { type Finding, reasonOf, unset, well, wrong } from "../finding.ts";

interface Server {
  readonly version: number;
  /** Settings that keep what was committed and are off; null: none. */
  readonly off: string | null;
  readonly isReplica: boolean;
  readonly connections: number;
}

/** Older ones lack what the migrations use. */
const VERSION_MIN = 150_000;
/** A web process opens 27 connections at most and a worker 13. */
const CONNECTIONS_MIN = 40;

/** Postgres: whether it answers, keeps what it took, and has this build's schema and role. */
export async function checkPostgres(settings: Settings): Promise<Finding> {
  const { DATABASE_URL, HEDERA_NETWORK } = settings;
  if (DATABASE_URL === undefined) return unset("DATABASE_URL");
  return withPostgres(DATABASE_URL, { connections: 1 }, async (sql) => {
    const server = await readServer(sql);
    const schema = await runFirst(schemaState(sql));
    const fault = SCHEMA_FAULTS[schema] ?? judgeServer(server, HEDERA_NETWORK);
    if (fault !== undefined) return fault;
    await runFirst(checkLastingSettings(sql, settings));
    return await judgeLogin(sql);
  }).catch(unreachable);
}

async function readServer(sql: Sql): Promise<Server> {
  const [server] = await runFirst(sql<[Server]>`
    select current_setting('server_version_num')::int as version,
      (select string_agg(name, ', ' order by place)
        from unnest('{fsync,synchronous_commit,full_page_writes}'::text[]) with ordinality as keeping (name, place)
        where current_setting(name) = 'off') as off,
      pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "isReplica",
      current_setting('max_connections')::int as connections`);
  return server;
}

const SCHEMA_FAULTS = {
  old: wrong("the schema is older than this build", "run `starboard migrate`"),
  other: wrong(
    "the database was made by another build and cannot be upgraded",
    "go on with the build that made it, or create an empty one, set DATABASE_URL to it and run `starboard migrate`",
  ),
  newer: undefined,
  current: undefined,
} as const;

function judgeServer(server: Server, network: Settings["HEDERA_NETWORK"]): Finding | undefined {
  const { version, isReplica, connections, off } = server;
  if (version < VERSION_MIN) {
    const major = Math.floor(version / 10_000);
    return wrong(`Postgres ${major} is too old`, "use Postgres 15 or newer");
  }
  if (isReplica) {
    return wrong("this Postgres takes no writes", "set DATABASE_URL to the primary");
  }
  if (connections < CONNECTIONS_MIN) {
    return wrong(
      `max_connections is ${connections}: too few for a web process and a worker`,
      `raise max_connections to ${CONNECTIONS_MIN} or more`,
    );
  }
  // A crash may lose the last commits of a local ledger, which holds no real money.
  if (off === null || network === "local") return undefined;
  return wrong(`${off} off: accepted stars can be lost`, `turn ${off} on`);
}

const GRANT =
  "as a superuser, or as the login that made the role: grant starboard_app to this login";

async function judgeLogin(sql: Sql): Promise<Finding> {
  if ((await runFirst(appRole(sql))) === undefined) {
    return wrong(
      "this login cannot work as the role starboard_app: triggers alone guard the journal",
      `where the role was made after the migrations, as the tables' owner: psql -f migrations/011.do.grants.sql; ${GRANT}`,
    );
  }
  const owns = await runFirst(ownsTables(sql));
  return well(
    owns
      ? "answers, schema and role are in order; this login owns the tables, which serve and work need not"
      : "answers, schema, role and settings are in order",
  );
}

const UNKNOWN_DATABASE = "3D000";
const NOT_ALLOWED = "42501";
/** A pooler refuses the settings of a connection by it. */
const PROTOCOL_VIOLATION = "08P01";

function unreachable(error: unknown): Finding {
  const message = reasonOf(error);
  const code = codeOf(error);
  if (error instanceof ConfigurationError) {
    return wrong(message, "set it as it was, or take an empty database");
  }
  if (error instanceof RetryableError) {
    if (codeOf(error.cause) === PROTOCOL_VIOLATION) {
      return wrong(message, "set DATABASE_URL to Postgres itself, not to a pooler before it");
    }
    return wrong(message, "start Postgres, and see that DATABASE_URL names its host and port");
  }
  if (code === UNKNOWN_DATABASE) {
    return wrong(message, "create the database, then run `starboard migrate`");
  }
  if (code === NOT_ALLOWED) return wrong(message, GRANT);
  if (code.startsWith("28")) {
    return wrong(message, "see the user and the password in DATABASE_URL");
  }
  return wrong(message, "see DATABASE_URL, its parameters too, and Postgres' own log");
}
