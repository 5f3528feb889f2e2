import type { NetworkLedger } from "../../support/network.ts";
import type { Engine } from "./engine.ts";

/** What each part of the proof has to hand. */
export interface Place {
  readonly engine: Engine;
  readonly ledger: NetworkLedger;
  say(text: string): void;
}

/** Settings by which containers with a network of their own reach what listens at 127.0.0.n. */
export function fromContainers({ settings, ...ledger }: NetworkLedger): NetworkLedger {
  const entries = Object.entries(settings).map(([name, value]) => [
    name,
    value.replaceAll("127.0.0.", "10.99.0."),
  ]);
  return { ...ledger, settings: Object.fromEntries(entries) };
}

/** What somebody fills in, in the two files of settings. The topics are made by the steps. */
export function filledIn({ settings }: NetworkLedger): { web: string; operator: string } {
  const { HEDERA_OPERATOR_ID, HEDERA_OPERATOR_KEY, ...others } = settings;
  const { EVENT_VOTES_TOPIC_ID, ASSET_VOTES_TOPIC_ID, ...web } = others;
  const lines = (values: Readonly<Record<string, string | undefined>>): string =>
    Object.entries(values)
      .map(([name, value]) => `${name}=${value}\n`)
      .join("");
  return {
    web: lines({
      ...web,
      HEDERA_NETWORK: "local",
      OPERATOR_TOKEN: "operators-token-of-the-proof",
      METRICS_TOKEN: "metrics-token-of-the-proof",
      API_RATE_LIMIT: "1000000",
      VOTING_RATE_LIMIT: "1000000",
    }),
    operator: lines({ HEDERA_OPERATOR_ID, HEDERA_OPERATOR_KEY }),
  };
}

/** `sed` expressions that leave out of an example what is filled in after it. */
export function withoutEmpty(file: string): string {
  return `sed -i -e '/^[A-Z_]*=$/d' -e '/^HEDERA_NETWORK=/d' -e '/^MIRROR_NODE_URL=/d' ${file}`;
}

/** The topics that `topics create` has added to a file of settings. */
export function topicsIn(text: string): { event: string; asset: string } {
  const [event = "", asset = ""] = ["EVENT", "ASSET"].map(
    (name) => new RegExp(`^${name}_VOTES_TOPIC_ID=(\\S+)$`, "m").exec(text)?.[1],
  );
  return { event, asset };
}
