import { ConfigurationError, type Settings } from "../../config.ts";
import { counted } from "../../counted.ts";
import { askNodes } from "../../ledger/consensus-nodes.ts";
import type { MirrorNode } from "../../ledger/mirror/node.ts";
import { hbarText, readOperatorAccount } from "../../ledger/operator-account.ts";
import { mirrorKeyOf, readOperatorKey } from "../../ledger/operator-key.ts";
import { isSatisfied, type PrimitiveKey, readPublicKey } from "../../ledger/public-key.ts";
import { refuseSwapped, takesMessagesOf, unfitBecause } from "../../publishing/check-topic.ts";
import { runFirst, withPostgres } from "../../store/postgres.ts";
import { type Finding, unset, well, wrong } from "../finding.ts";
import { STARS_LEFT_MIN, starsLeft } from "../operator-balance.ts";

const LIMITS = { deadlineMs: 4_000 } as const;
/** The first call to a node connects. */
const NODE_WITHIN_MS = 10_000;

/** The consensus nodes: whether they answer, under the accounts that they are known by. */
export async function checkConsensus(settings: Settings): Promise<Finding> {
  const { HEDERA_NETWORK: network, HEDERA_NODES: nodes } = settings;
  if (nodes === undefined && network === "local") return unset("HEDERA_NODES");
  const answers = await askNodes({ network, nodes, callDeadlineMs: NODE_WITHIN_MS });
  const others = answers.flatMap(({ node, isOther }) => (isOther ? [node] : []));
  if (others.length > 0) {
    return wrong(
      `the node at the address of ${others.join(", ")} has another account`,
      "name each node's own account in HEDERA_NODES: `host:port=0.0.3`",
    );
  }
  const silent = answers.flatMap(({ node, fault }) => (fault === null ? [] : [{ node, fault }]));
  const names = silent.map(({ node }) => node).join(", ");
  // A message is signed for three nodes and goes to another where one is silent.
  if (2 * silent.length >= answers.length) {
    return wrong(
      `${silent.length} of ${answers.length} nodes do not answer: ${names} (${silent[0]?.fault ?? ""})`.slice(
        0,
        300,
      ),
      "let this machine reach them (gRPC, port 50211), or name others in HEDERA_NODES",
    );
  }
  return well(
    silent.length === 0
      ? `all ${answers.length} nodes answer`
      : `${answers.length - silent.length} of ${answers.length} nodes answer; ${names} do not`,
  );
}

/** The operator's key: whether it is one, and the one that the account asks for. */
export async function checkOperatorKey(settings: Settings, mirror: MirrorNode): Promise<Finding> {
  const { HEDERA_OPERATOR_ID: id, HEDERA_OPERATOR_KEY: text } = settings;
  if (id === undefined) return unset("HEDERA_OPERATOR_ID");
  if (text === undefined) return unset("HEDERA_OPERATOR_KEY");
  const ours = readKey(text);
  if (ours === undefined) {
    return wrong(
      "HEDERA_OPERATOR_KEY is no private key in DER or raw hex",
      "set it to the account's private key; raw ECDSA keys begin with 0x",
    );
  }
  const account = await mirror.account(id, LIMITS);
  if (account === null || account.deleted) {
    return wrong(
      `the account ${id} ${account === null ? "does not exist" : "is deleted"} on ${settings.HEDERA_NETWORK}`,
      "set HEDERA_OPERATOR_ID to an account of this network",
    );
  }
  const identity = `${ours.kind}:${Buffer.from(ours.publicKey).toString("hex")}`;
  const asks = readPublicKey(account.key);
  const isEnough =
    asks !== undefined && isSatisfied(asks, (leaf: PrimitiveKey) => leaf.identity === identity);
  if (isEnough) return well(`it is the key of ${id}`);
  return wrong(
    `HEDERA_OPERATOR_KEY is not the key of ${id}: every message would be refused`,
    "set HEDERA_OPERATOR_KEY to that account's key, or HEDERA_OPERATOR_ID to that key's account; a raw ECDSA key begins with 0x",
  );
}

const NOT_OURS = "has a submit key that is not ours: messages would be refused";

/** Both topics: whether they can carry stars, and whether our key may write to them. */
export async function checkTopics(
  settings: Settings,
  mirror: MirrorNode,
  isWebProcess: boolean,
): Promise<Finding> {
  const { EVENT_VOTES_TOPIC_ID: event, ASSET_VOTES_TOPIC_ID: asset } = settings;
  if (event !== undefined && event === asset) {
    return wrong("both settings name the same topic", "`starboard topics create` makes two");
  }
  const swapped = await swappedOf(settings);
  if (swapped !== undefined) {
    return wrong(swapped, "exchange EVENT_VOTES_TOPIC_ID and ASSET_VOTES_TOPIC_ID");
  }
  if (isWebProcess && (event === undefined || asset === undefined)) {
    return well("not set: this process does not compare the journal with its topics");
  }
  if (event === undefined) return unset("EVENT_VOTES_TOPIC_ID");
  if (asset === undefined) return unset("ASSET_VOTES_TOPIC_ID");
  const { HEDERA_OPERATOR_KEY: text } = settings;
  const ours = text === undefined ? undefined : readKey(text);
  const named = { EVENT_VOTES_TOPIC_ID: event, ASSET_VOTES_TOPIC_ID: asset };
  const faults = await Promise.all(
    Object.entries(named).map(async ([setting, id]) => {
      const found = await mirror.topic(id, LIMITS);
      const isOurs = ours === undefined || (found && takesMessagesOf(found, mirrorKeyOf(ours)));
      const fault = unfitBecause(found) ?? (isOurs ? undefined : NOT_OURS);
      return fault === undefined ? [] : [{ setting, fault, message: `${setting} ${id} ${fault}` }];
    }),
  );
  const wrongs = faults.flat();
  if (wrongs.length > 0) {
    const first = wrongs.some(({ fault }) => fault === NOT_OURS)
      ? "cure `operator-key` first, where that is wrong; else "
      : "";
    const unfit = wrongs.map(({ setting }) => setting).join(" and ");
    return wrong(
      wrongs.map(({ message }) => message).join("; "),
      `${first}set ${unfit} to what \`starboard topics create\` prints`,
    );
  }
  return well(
    ours === undefined ? "both can carry stars" : "both can carry stars, signed with our key",
  );
}

/** What a start says of topics with stars of the other kind; a database that is away is not this check's. */
async function swappedOf(settings: Settings): Promise<string | undefined> {
  const { DATABASE_URL, EVENT_VOTES_TOPIC_ID: event, ASSET_VOTES_TOPIC_ID: asset } = settings;
  if (DATABASE_URL === undefined) return undefined;
  try {
    await withPostgres(DATABASE_URL, { connections: 1 }, (sql) =>
      refuseSwapped(sql, { event, asset }, runFirst),
    );
    return undefined;
  } catch (error) {
    return error instanceof ConfigurationError ? error.message : undefined;
  }
}

/** The operator's balance, and how many messages it pays for. */
export async function checkBalance(settings: Settings, mirror: MirrorNode): Promise<Finding> {
  const { HEDERA_OPERATOR_ID: id } = settings;
  if (id === undefined) return unset("HEDERA_OPERATOR_ID");
  const account = await readOperatorAccount(mirror, id, LIMITS);
  if (account === null) {
    return wrong(
      `the mirror node does not say what ${id} holds`,
      "see HEDERA_OPERATOR_ID and MIRROR_NODE_URL",
    );
  }
  const stars = starsLeft(account);
  const message = `${id} holds ${hbarText(account.balance)}, a message costs ${hbarText(account.perMessage)}: enough for ${counted(stars, "star")}`;
  return stars < STARS_LEFT_MIN ? wrong(message, `send HBAR to ${id}`) : well(message);
}

function readKey(text: string) {
  try {
    return readOperatorKey(text);
  } catch {
    return undefined;
  }
}
