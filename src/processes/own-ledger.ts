import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../clock.ts";
import { LEDGER_SETTINGS } from "../config.ts";
import { isDirectoryEmpty } from "../demo/first-start.ts";
import { makePastLedger } from "../demo/past-ledger.ts";
import { DEMO_SOURCES } from "../local/demo-directory.ts";
import { type DemoLedger, readKept, settleDemoLedger } from "../local/demo-ledger.ts";
import { readPort } from "../local/free-port.ts";
import type { Ledger } from "../local/hedera/ledger.ts";
import { startLocalHedera } from "../local/hedera/start.ts";
import type { closedInTurn } from "../service.ts";
import { runStatement, type Sql } from "../store/postgres.ts";

/** Settings by name, as an environment has them. */
export type Variables = Record<string, string>;
export type CloseAtStop = ReturnType<typeof closedInTurn>["add"];

const DEMO_KEYS = { a: "collection_a", b: "collection_b" } as const;
/** Where a first start's mirror node listens, if no other process does. */
const MIRROR_PORT = 5551;
/** The port of the local mirror node's last start. */
const MIRROR_PORT_FILE = "mirror.port";

/**
 * Starts the ledger of this machine. At the first start its topics get stars of past days, which
 * the demo's directory then shows.
 */
export async function ownLedger(place: {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly folder: string;
  readonly given: Variables;
  readonly closeAtStop: CloseAtStop;
}) {
  const { sql, clock, folder, given, closeAtStop } = place;
  const file = join(folder, "ledger.json");
  const ledgerFolder = join(folder, "ledger");
  // Stars of the past name topics and collections: those of the ledger that is made here.
  const isWhole = LEDGER_SETTINGS.every((name) => given[name] === undefined);
  if (isWhole && readKept(file) === undefined && (await isDirectoryEmpty(sql))) {
    await makePastLedger({ folder: ledgerFolder, file, keys: DEMO_KEYS, now: clock.now() });
  }
  const portFile = join(folder, MIRROR_PORT_FILE);
  const start = (mirrorPort: number) =>
    startLocalHedera({ now: clock.now, folder: ledgerFolder, mirrorPort });
  // Any port where another process has that one.
  const started = await start(readPort(portFile) || MIRROR_PORT).catch(() => start(0));
  const hedera = closeAtStop(started);
  await refuseStarsOfAnother(sql, hedera.ledger, { folder: ledgerFolder, file });
  writeFileSync(portFile, new URL(hedera.mirrorUrl).port);
  const demo = await settleDemoLedger(hedera.ledger, file);
  const variables = {
    MIRROR_NODE_URL: hedera.mirrorUrl,
    HEDERA_NODES: hedera.nodes.map(({ address, account }) => `${address}=${account}`).join(","),
    EVENT_SOURCES: DEMO_SOURCES.join(","),
    ...demoVariables(demo),
  };
  return { demo, ledger: hedera.ledger, variables };
}

/**
 * Topics of two ledgers may have one id. What waits would be sent to this one, and new messages
 * would be taken for those that were read on the other. Without the file that names the topics,
 * others would take their place.
 */
async function refuseStarsOfAnother(
  sql: Sql,
  ledger: Ledger,
  { folder, file }: { readonly folder: string; readonly file: string },
): Promise<void> {
  const [newest] = await runStatement(sql<{ topic: string; sequence: number; hash: string }[]>`
    select topic_id as topic, sequence_number as sequence, running_hash as hash from outbox
    where state = 'published' order by star_id desc limit 1`);
  if (newest === undefined) return;
  if (!ledger.hasMessage(newest.topic, newest.sequence, newest.hash)) {
    throw new Error(
      `the stars of this database are on another ledger than ${folder}: ` +
        "name theirs by HEDERA_NETWORK, bring that folder back, or take an empty database",
    );
  }
  if (readKept(file) === undefined) {
    throw new Error(
      `${file} is gone or damaged, which names the topics of this database's stars: ` +
        "bring it back, or take an empty database",
    );
  }
}

function demoVariables(demo: DemoLedger): Record<(typeof LEDGER_SETTINGS)[number], string> {
  return {
    HEDERA_OPERATOR_ID: demo.operator.id,
    HEDERA_OPERATOR_KEY: demo.operator.key,
    EVENT_VOTES_TOPIC_ID: demo.eventTopic,
    ASSET_VOTES_TOPIC_ID: demo.assetTopic,
    COLLECTION_A_ID: demo.collectionA,
    COLLECTION_A_KEY: DEMO_KEYS.a,
    COLLECTION_B_ID: demo.collectionB,
    COLLECTION_B_KEY: DEMO_KEYS.b,
  };
}
