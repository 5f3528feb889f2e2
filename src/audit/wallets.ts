import { isEntityId } from "../ledger/entity-id.ts";
import type { MirrorArchive } from "../ledger/mirror-archive.ts";
import type { MirrorTopicMessage } from "../ledger/mirror-schemas.ts";
import type { CollectionKeys } from "../publishing/message.ts";
import { parseStarMessage } from "../publishing/parse-message.ts";
import type { AuditState } from "./audit-state.ts";

/** Public mirror nodes allow about 50 requests a second. */
const LOOKUPS_AT_ONCE = 8;

/** Looks up the wallets of a batch that have not been met before. @throws MirrorError */
export async function newWalletsOf(
  mirror: Pick<MirrorArchive, "accountExists">,
  { state, keys }: { readonly state: AuditState; readonly keys: CollectionKeys },
  batch: readonly MirrorTopicMessage[],
): Promise<void> {
  const wallets = batch.flatMap(({ bytes }) => parseStarMessage(bytes, keys)?.wallet ?? []);
  const queue = [...new Set(wallets)].filter(
    (wallet) => !state.wallets.has(wallet) && isEntityId(wallet),
  );
  const work = async (): Promise<void> => {
    for (let wallet = queue.pop(); wallet !== undefined; wallet = queue.pop()) {
      state.wallets.set(wallet, await mirror.accountExists(wallet));
    }
  };
  await Promise.all(Array.from({ length: LOOKUPS_AT_ONCE }, work));
}
