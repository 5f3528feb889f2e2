import { join } from "node:path";
import { freePort } from "../../src/local/free-port.ts";
import type { Checkout } from "./checkout.ts";
import { type Child, launch, WEB_FLAGS } from "./children.ts";
import { type Bench, type Candidate, emptyRedis, onDatabase } from "./measure.ts";
import { installPlain } from "./plain.ts";
import type { ServerOrder } from "./server.ts";
import type { Database } from "./world.ts";

/** A candidate on a fresh database of its own. */
export interface Running extends Candidate, Stoppable {
  readonly processes: readonly Child[];
}

interface Stoppable {
  stop(): Promise<void>;
}

/** Starts a candidate, works with it and stops it. */
export async function use<T extends Stoppable>(
  starting: Promise<T>,
  work: (running: T) => Promise<void>,
): Promise<void> {
  const running = await starting;
  try {
    await work(running);
  } finally {
    await running.stop();
  }
}

export interface StartOrder
  extends Pick<ServerOrder, "commitPerStar" | "actorsLiveMax" | "logLevel"> {
  readonly kind: ServerOrder["kind"];
  /** Database to clone. */
  readonly template: string;
  readonly processes?: number;
  /** Of the profile, where profiles are wanted. */
  readonly name: string;
  readonly nodeFlags?: readonly string[];
  /** An older tree whose server is started, as it starts one; this tree when absent. */
  readonly checkout?: Checkout | undefined;
}

/** Starts our own server under test: the product's parts, holdings given. */
export async function startServer(bench: Bench, order: StartOrder): Promise<Running> {
  const { kind, template, processes = 1, name, nodeFlags = [], checkout, ...rest } = order;
  const { world } = bench;
  await emptyRedis(world);
  const database = await world.clone(template);
  if (kind === "plain" || kind === "dbos") await onDatabase(database, installPlain);
  const started = await Promise.all(
    Array.from({ length: processes }, async () => {
      const port = await freePort();
      const given: ServerOrder = {
        ...rest,
        kind,
        port,
        databaseUrl: database.url,
        redisUrl: world.redis.url,
      };
      const url = `http://127.0.0.1:${port}`;
      const child = await launch({
        entry: new URL("./server.ts", import.meta.url),
        args: [JSON.stringify(given)],
        nodeFlags: [...(checkout?.webFlags ?? WEB_FLAGS), ...nodeFlags],
        checkout,
        profileInto: profileFolder(bench, name),
      });
      await child.answersAt(url);
      return { child, url };
    }),
  );
  return running(
    started.map(({ child }) => child),
    started.map(({ url }) => url),
    database,
  );
}

/** Starts the product itself, `starboard serve`, as it is. */
export async function startServe(
  bench: Bench,
  given: {
    readonly name: string;
    readonly template: string;
    readonly settings: Record<string, string>;
    readonly checkout?: Checkout | undefined;
  },
): Promise<Running> {
  const { world } = bench;
  await emptyRedis(world);
  const database = await world.clone(given.template);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = await launch({
    entry: new URL("../../src/processes/starboard.ts", import.meta.url),
    args: ["serve"],
    nodeFlags: given.checkout?.webFlags ?? WEB_FLAGS,
    checkout: given.checkout,
    settings: {
      PORT: String(port),
      DATABASE_URL: database.url,
      REDIS_URL: world.redis.url,
      COLLECTION_A_KEY: "alpha",
      COLLECTION_B_KEY: "beta",
      API_RATE_LIMIT: "1000000",
      VOTING_RATE_LIMIT: "1000000",
      // Their styles and scripts lie beside the sources, not beside what is compiled here.
      PAGES: "off",
      ...given.settings,
    },
    profileInto: profileFolder(bench, given.name),
  });
  await child.answersAt(url);
  return running([child], [url], database);
}

function running(
  processes: readonly Child[],
  urls: readonly string[],
  database: Database,
): Running {
  return {
    processes,
    urls,
    database,
    stop: async () => {
      await Promise.all(processes.map((child) => child.stop()));
      await database.drop();
    },
  };
}

function profileFolder({ options }: Bench, name: string): string | undefined {
  return options.profileInto === undefined
    ? undefined
    : join(options.profileInto, name.replaceAll(" ", "-"));
}
