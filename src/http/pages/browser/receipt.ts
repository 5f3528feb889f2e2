import type { Star } from "../../../../packages/client/src/index.ts";
import { element } from "./element.ts";
import { deadline, service } from "./service.ts";

type Publication = Star["publication"];

const STEPS: readonly Publication["state"][] = ["stored", "submitted", "published"];
/** Often at first, because a person waits; less often when the ledger is away. */
const ASK_EVERY_MS = { first: 400, most: 10_000, factor: 1.3 };

const journey = document.querySelector<HTMLElement>("[data-journey]");
if (journey !== null) void follow(journey);
const button = document.querySelector<HTMLButtonElement>("[data-compare]");
if (button !== null) wakeComparison(button);

async function follow(journey: HTMLElement): Promise<void> {
  let waitMs = ASK_EVERY_MS.first;
  while (journey.dataset.state !== "published") {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    waitMs = Math.min(ASK_EVERY_MS.most, waitMs * ASK_EVERY_MS.factor);
    if (document.visibilityState === "hidden") continue;
    const star = await service
      .receipt(journey.dataset.journey ?? "", deadline())
      .catch(() => undefined);
    if (star !== undefined) show(journey, star.publication);
  }
}

function show(journey: HTMLElement, publication: Publication): void {
  const reached = STEPS.indexOf(publication.state);
  journey.dataset.state = publication.state;
  for (const [index, state] of STEPS.entries()) {
    const step = journey.querySelector(`[data-step="${state}"]`);
    step?.classList.toggle("reached", index <= reached);
    if (index === reached) step?.setAttribute("aria-current", "step");
    else step?.removeAttribute("aria-current");
  }
  for (const place of document.querySelectorAll<HTMLElement>("[data-publication]")) {
    const value = publication[place.dataset.publication as keyof Publication];
    if (value !== null && value !== undefined) place.textContent = String(value);
  }
  const row = document.querySelector<HTMLAnchorElement>("[data-mirror-row]");
  if (row !== null && publication.sequenceNumber !== null) {
    const { topicId, sequenceNumber } = publication;
    row.href = `${row.dataset.mirrorRow}${topicId}/messages/${sequenceNumber}`;
    row.hidden = false;
  }
  const link = document.querySelector<HTMLAnchorElement>("[data-explorer]");
  if (link !== null && publication.consensusTimestamp !== null) {
    link.href = `${link.dataset.explorer}/transaction/${publication.consensusTimestamp}`;
    link.hidden = false;
  }
}

const UNREADABLE = "What the mirror node answered cannot be read. Try again.";

function wakeComparison(button: HTMLButtonElement): void {
  const outcome = document.querySelector("[data-outcome]");
  button.disabled = false;
  // While it asks it stays enabled: the keyboard's focus would be lost with it.
  let isAsking = false;
  button.addEventListener("click", async () => {
    if (isAsking) return;
    isAsking = true;
    const say = (lines: readonly string[]): void => {
      const items = lines.map((line) => element("li", {}, line));
      outcome?.replaceChildren(element("ul", {}, ...items));
    };
    say(["Asking the mirror node…"]);
    const { compare: id = "", mirror = "" } = button.dataset;
    const message = document.querySelector("[data-message]")?.textContent ?? "";
    say(await compareWithLedger({ id, mirror, message }).catch(() => [UNREADABLE]));
    isAsking = false;
  });
}

/** A topic message as every mirror node shows it. */
interface Row {
  readonly message: string;
  readonly running_hash: string;
  readonly consensus_timestamp: string;
  readonly payer_account_id: string;
  readonly sequence_number: number;
  readonly topic_id: string;
}

export interface Compared {
  /** Of the star. */
  readonly id: string;
  readonly mirror: string;
  /** The message as this service has it. */
  readonly message: string;
}

/**
 * Asks the mirror node for a star's row, and holds against it what the service says: the message
 * byte for byte, the running hash as the receipt says it, and that hash as this browser makes it from the
 * message before.
 *
 * @returns sentences for people
 */
export async function compareWithLedger(compared: Compared): Promise<readonly string[]> {
  const { id, mirror, message } = compared;
  const star = await service.receipt(id, deadline()).catch(() => undefined);
  if (star === undefined) return ["The service did not answer. Try again."];
  const { topicId, sequenceNumber, runningHash } = star.publication;
  if (topicId === null || sequenceNumber === null)
    return ["This star is not on the ledger yet. Try again in a few seconds."];
  const messages = `${mirror}/api/v1/topics/${topicId}/messages`;
  const row = await readRow(`${messages}/${sequenceNumber}`);
  if (row === undefined) return ["The mirror node did not answer, or does not have this row yet."];
  const bytes = bytesOf(row.message);
  const expected = new TextEncoder().encode(message);
  const isSame = bytes.length === expected.length && bytes.every((byte, n) => byte === expected[n]);
  return [
    isSame
      ? `The ${bytes.length} bytes on the ledger are those above.`
      : `The ledger has other bytes: ${new TextDecoder().decode(bytes)}`,
    row.running_hash === runningHash
      ? "The running hash is the one on this receipt."
      : `The ledger has another running hash: ${row.running_hash}`,
    await linkSentence(row, messages),
  ];
}

async function linkSentence(row: Row, messages: string): Promise<string> {
  const before = row.sequence_number - 1;
  const first = { running_hash: btoa("\0".repeat(48)) };
  const previous = before === 0 ? first : await readRow(`${messages}/${before}`);
  if (previous === undefined) return `Message ${before}, which comes before it, could not be read.`;
  const made = await runningHashOf(bytesOf(previous.running_hash), row);
  return made === row.running_hash
    ? `Your browser made the same hash from message ${before} and this one: nothing was put between them.`
    : `Your browser makes another hash from message ${before} and this one: ${made}`;
}

/** A person waits. */
const MIRROR_WITHIN_MS = 10_000;

async function readRow(url: string): Promise<Row | undefined> {
  const signal = AbortSignal.timeout(MIRROR_WITHIN_MS);
  const response = await fetch(url, { credentials: "omit", signal }).catch(() => undefined);
  return response?.ok ? ((await response.json()) as Row) : undefined;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Parts of a Java object stream: consensus nodes hash two byte arrays with a block between them. */
const FIRST_ARRAY = "aced0005757200025b42acf317f8060854e0020000787000000030";
const NUMBERS = "774c";
const SECOND_ARRAY = "7571007e000000000030";
const RUNNING_HASH_VERSION = 3;

/** A topic's running hash after a message, in base64. */
async function runningHashOf(previous: Uint8Array<ArrayBuffer>, row: Row): Promise<string> {
  const message = await crypto.subtle.digest("SHA-384", bytesOf(row.message));
  const parts = [hex(FIRST_ARRAY), previous, hex(NUMBERS), numbersOf(row), hex(SECOND_ARRAY)];
  const whole = await new Blob([...parts, message]).arrayBuffer();
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-384", whole));
  return btoa(String.fromCharCode(...hash));
}

/** Version, payer, topic and time, then the number in its topic: big-endian. */
function numbersOf(row: Row): Uint8Array<ArrayBuffer> {
  const [seconds = "0", nanos = "0"] = row.consensus_timestamp.split(".");
  const ids = [...row.payer_account_id.split("."), ...row.topic_id.split(".")];
  const longs = [RUNNING_HASH_VERSION, ...ids, seconds].map(BigInt);
  const view = new DataView(new ArrayBuffer(76));
  for (const [index, long] of longs.entries()) view.setBigInt64(index * 8, long);
  view.setInt32(64, Number(nanos));
  view.setBigInt64(68, BigInt(row.sequence_number));
  return new Uint8Array(view.buffer);
}

function hex(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
