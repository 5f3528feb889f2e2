import { every, type Service } from "../service.ts";
import { type CollectionRefreshDeps, refreshCollections } from "./refresh-catalogue-collections.ts";
import { priceSource, refreshPrices } from "./refresh-catalogue-prices.ts";

/** Prices move all the time; a minute is what free sources allow. */
const PRICES_EVERY_MS = 60_000;
/** A collection of 10,000 NFTs is 100 pages: owners are worth that now and then. */
const COLLECTIONS_EVERY_MS = 600_000;
/** Workers that started together drift apart, and do not ask together. */
const JITTER_SHARE = 0.2;
/** A source that fails is asked ever more rarely, down to this. */
const SLOWDOWN_MAX = 8;
const FIRST_WITHIN_MS = 5_000;

/**
 * Keeps what others know better up to date: `owners` and `supply` of collections from the mirror
 * node, `price` and `marketCap` of tokens from the price source. A reading that failed or makes
 * no sense changes nothing. Any number of workers may do it.
 *
 * @returns what ends a round in progress early when it is closed; what it has not read stays as it was
 * @throws ConfigurationError when the price source's URL is none
 */
export function startCatalogueRefresh(
  deps: Omit<CollectionRefreshDeps, "signal"> & {
    /** Where prices come from (`PRICE_URL`); without one they stay as they are. */
    readonly priceUrl?: string | undefined;
    /** Between 0 and 1, for jitter. */
    readonly random?: () => number;
    readonly repeat?: typeof every;
  },
): Service {
  const closing = new AbortController();
  const { signal } = closing;
  const { sql, log, priceUrl, random = Math.random, repeat = every } = deps;
  const source = priceUrl === undefined ? undefined : priceSource(priceUrl);
  const onFailure = (error: unknown): void => {
    if (!signal.aborted) log.warn({ err: error }, "the catalogue was not refreshed");
  };
  const keepUp = (everyMs: number, refresh: () => Promise<boolean>): Service => {
    let slowdown = 1;
    const round = async (): Promise<void> => {
      // Until it says otherwise, for it may throw.
      slowdown = Math.min(slowdown * 2, SLOWDOWN_MAX);
      if (await refresh()) slowdown = 1;
    };
    const pauseMs = () => everyMs * slowdown * (1 + JITTER_SHARE * (2 * random() - 1));
    return repeat(pauseMs, round, { onFailure, firstAfterMs: random() * FIRST_WITHIN_MS });
  };
  const repeating = [
    keepUp(COLLECTIONS_EVERY_MS, () => refreshCollections({ ...deps, signal })),
    source && keepUp(PRICES_EVERY_MS, () => refreshPrices({ sql, log, source, signal })),
  ];
  return {
    async close() {
      closing.abort();
      await Promise.all(repeating.map((service) => service?.close()));
      await source?.close();
    },
  };
}
