import { bulkhead } from "cockatiel";
import { ENTITY_NUMBER_MAX, entityNumber, isEntityId } from "../ledger/entity-id.ts";
import type { MirrorTopicMessage } from "../ledger/mirror/schemas.ts";
import type { CollectionKeys } from "../publishing/message.ts";
import { parseStarMessage } from "../publishing/parse-message.ts";
import type { AuditMirror } from "./audit-mirror.ts";
import type { AuditState } from "./audit-state.ts";

/** Hides the time that answers take; the mirror keeps to its rate by itself. */
const LOOKUPS_AT_ONCE = 8;

/** Looks up the wallets of a batch that have not been met before. @throws MirrorError */
export async function newWalletsOf(
  mirror: Pick<AuditMirror, "account">,
  { state, keys }: { readonly state: AuditState; readonly keys: CollectionKeys },
  batch: readonly MirrorTopicMessage[],
): Promise<void> {
  const wallets = batch.flatMap(({ bytes }) => parseStarMessage(bytes, keys)?.wallet ?? []);
  const unmet = [...new Set(wallets)].filter(
    (wallet) => !state.wallets.has(wallet) && isEntityId(wallet),
  );
  const lane = bulkhead(LOOKUPS_AT_ONCE, Number.POSITIVE_INFINITY);
  const lookUp = async (wallet: string): Promise<void> => {
    // Deleted ones were there, and still are.
    const isPossible = entityNumber(wallet) <= ENTITY_NUMBER_MAX;
    state.wallets.set(wallet, isPossible && (await mirror.account(wallet)) !== null);
  };
  await Promise.all(unmet.map((wallet) => lane.execute(() => lookUp(wallet))));
}
