import { join } from "node:path";
import { type Child, launch } from "./children.ts";
import type { Bench } from "./measure.ts";
import type { MirrorOrder, MirrorSettings } from "./mirror.ts";

/** A mirror node that knows the wallets of the benchmark and their NFTs. */
export interface BenchMirror extends MirrorSettings {
  readonly process: Child;
  close(): Promise<void>;
}

/** Two collection A serials to every wallet, the same ones that `serialsOf` names. */
export async function startMirror(bench: Bench, wallets: number): Promise<BenchMirror> {
  const { profileInto } = bench.options;
  const process = await launch({
    entry: new URL("./mirror.ts", import.meta.url),
    takesOrders: true,
    profileInto: profileInto === undefined ? undefined : join(profileInto, "mirror"),
  });
  const order: MirrorOrder = { wallets };
  const settings = await process.ask<MirrorSettings>(order);
  return { ...settings, process, close: () => process.stop() };
}
