import { MirrorClient } from "../ledger/mirror/node.ts";
import type { Topic } from "../ledger/topic.ts";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { tracing } from "../tracing.ts";

/** The mirror node of a process, every request timed; those for a traced star have a span, too. */
export function observedMirror(
  urls: readonly string[],
  log: Logger,
  { mirrorRequests }: Pick<Metrics, "mirrorRequests">,
) {
  return new MirrorClient({
    urls,
    log,
    isLasting: true,
    onRequest(route, outcome, seconds) {
      mirrorRequests.observe({ route, outcome }, seconds);
      tracing?.ended("mirror request", seconds, { attributes: { "url.template": route, outcome } });
    },
  });
}

/** The same topic, with every call to a consensus node timed. */
export function observedTopic(
  topic: Topic,
  { consensusRequests }: Pick<Metrics, "consensusRequests">,
): Topic {
  const timed =
    <Given, Outcome extends { readonly kind: string }>(
      call: "send" | "receipt",
      ask: (given: Given) => Promise<Outcome>,
    ) =>
    async (given: Given): Promise<Outcome> => {
      const askedAt = performance.now();
      const outcome = await ask(given);
      const seconds = (performance.now() - askedAt) / 1_000;
      consensusRequests.observe({ call, outcome: outcome.kind }, seconds);
      tracing?.ended(`consensus ${call}`, seconds, { attributes: { outcome: outcome.kind } });
      return outcome;
    };
  return { ...topic, send: timed("send", topic.send), receipt: timed("receipt", topic.receipt) };
}
