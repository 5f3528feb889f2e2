/**
 * The voting rules a second time, in the specification's own words: plain arrays and sets, slow,
 * no line shared with the machines. Where oracle and machines differ, read the specification.
 */
const dayOf = (at: number) => Math.floor(at / 86_400_000);

/** A thing to star: NFTs are accounted on an `event` per day, on a `mint` (forever) for good. */
export type OracleTarget = { readonly id: string; readonly kind: "asset" | "event" | "mint" };
/** Half-open: on at `from`, over at `to`, epoch ms. */
export type OraclePass = { readonly wallet: string; readonly from: number; readonly to: number };
/** A wallet wants to star a target at `now` (epoch ms) and holds these serials, ascending. */
export interface OracleIntent {
  readonly wallet: string;
  readonly target: OracleTarget;
  readonly now: number;
  readonly a: readonly number[];
  readonly b: readonly number[];
}
type Facts = Record<"at" | "day" | "slot" | "limit" | "base" | "weight", number>;
export type OracleStar = OracleIntent & Facts & { readonly nfts: readonly string[] };
export type OracleVerdict =
  | { readonly code: "ACCEPTED" | "ALREADY_STARRED"; readonly star: OracleStar }
  | { readonly code: "ALLOWANCE_EXHAUSTED"; readonly limit: number; readonly used: number };

export function createOracle(passes: readonly OraclePass[], votes = { free: 5, premium: 20 }) {
  const stars: OracleStar[] = [];
  const lost = new Map<string, number>();
  const on = (target: OracleTarget, day?: number) =>
    stars.filter((star) => star.target.id === target.id && star.day === (day ?? star.day));
  return {
    stars,
    counter: (target: OracleTarget, at: number): number =>
      on(target, target.kind === "asset" ? dayOf(at) : undefined).reduce(
        (n, s) => n + s.weight,
        0,
      ) - (lost.get(target.id) ?? 0),
    /** Whose star on a mint counts an NFT, such as `A7`. */
    holderOn: (mint: string, nft: string): string | null =>
      stars.find((star) => star.target.id === mint && star.nfts.includes(nft))?.wallet ?? null,
    /** NFTs count on a mint no longer, all at once; spares of their wallets carry the +5 on. */
    release(mint: string, ended: readonly { nft: string; spare: string | null }[]): void {
      const carriers = ended.map(({ nft, spare }) => {
        const at = stars.findIndex((star) => star.target.id === mint && star.nfts.includes(nft));
        const star = stars[at];
        if (star === undefined) throw new Error(`${nft} does not count on ${mint}`);
        stars[at] = { ...star, nfts: star.nfts.filter((each) => each !== nft) };
        const weight = spare !== null ? 0 : nft.startsWith("B") ? 5 : 1;
        lost.set(mint, (lost.get(mint) ?? 0) + weight);
        return { at, spare };
      });
      for (const { at, spare } of carriers) {
        const star = stars[at];
        if (star && spare !== null) stars[at] = { ...star, nfts: [...star.nfts, spare] };
      }
    },
    star({ wallet, target, now, a, b }: OracleIntent): OracleVerdict {
      const mine = stars.filter((s) => s.wallet === wallet).sort((one, two) => one.at - two.at);
      let at = now;
      for (const star of mine) if (star.day === dayOf(at) && star.at >= at) at = star.at + 1;
      const day = dayOf(at);
      const today = mine.filter((star) => star.day === day);
      const earlier = today.find((star) => star.target.id === target.id);
      if (earlier && target.kind !== "mint") return { code: "ALREADY_STARRED", star: earlier };
      const paid = passes.some((pass) => pass.wallet === wallet && pass.from <= at && at < pass.to);
      const limit = paid ? votes.premium : votes.free;
      const used = today.length;
      if (used >= limit) return { code: "ALLOWANCE_EXHAUSTED", limit, used };
      const scope = { asset: [], event: on(target, day), mint: on(target) }[target.kind];
      const counted = new Set(scope.flatMap((star) => star.nfts));
      const own = scope.filter((star) => star.wallet === wallet && target.kind === "mint");
      const carries = own.some((star) => star.nfts.some((nft) => nft.startsWith("B")));
      const freshA = a.map((serial) => `A${serial}`).filter((nft) => !counted.has(nft));
      const freshB = b.map((serial) => `B${serial}`).find((nft) => !carries && !counted.has(nft));
      const base = own.length > 0 ? 0 : 1;
      const weight = base + freshA.length + (freshB === undefined ? 0 : 5);
      const nfts = freshB === undefined ? freshA : [...freshA, freshB];
      const facts = { at, day, slot: used + 1, limit, base, weight, nfts };
      const star = { wallet, target, now, a, b, ...facts };
      stars.push(star);
      return { code: "ACCEPTED", star };
    },
  };
}
