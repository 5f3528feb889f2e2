import type { MetricValueWithName } from "prom-client";
import type { Metrics } from "../metrics.ts";
import type { MetricDelta, ServiceProcess } from "../store/service-report.ts";

/** A counter's value now, under the name it has in a delta. */
type Reading = Omit<MetricDelta, "peak">;
type Values = readonly MetricValueWithName<string>[];

/**
 * What the metrics of this process counted since it was last written. The names are a fixed list:
 * `accepted <type>`, `refused <code>`, `limited <limit>`, `failed` (replies of 500 and above)
 * and `published` (its total: seconds from star to ledger). Each role counts its own, for in one
 * process they may share their metrics.
 *
 * @returns a look; what it counted is counted the next time too, until its `written` is called
 */
export function metricDeltas(
  metrics: Metrics,
  role: ServiceProcess["role"],
): () => Promise<{ readonly deltas: readonly MetricDelta[]; readonly written: () => void }> {
  let before: ReadonlyMap<string, Reading> = new Map();
  return async () => {
    const readings = await (role === "web" ? readWeb(metrics) : readWorker(metrics));
    const deltas = readings.map(({ name, count, total = 0 }) => {
      const then = before.get(name);
      return { name, count: count - (then?.count ?? 0), total: total - (then?.total ?? 0) };
    });
    return {
      deltas: deltas.filter(({ count }) => count > 0),
      written: () => {
        before = new Map(readings.map((reading) => [reading.name, reading]));
      },
    };
  };
}

async function readWeb(metrics: Metrics): Promise<Reading[]> {
  const { starsAccepted, starsRefused, rateLimited, httpRequests } = metrics;
  const failed = (await httpRequests.get()).values.filter(
    ({ metricName = "", labels }) => metricName.endsWith("_count") && Number(labels.status) >= 500,
  );
  return [
    ...labelled("accepted", "target", (await starsAccepted.get()).values),
    ...labelled("refused", "code", (await starsRefused.get()).values),
    ...labelled("limited", "limit", (await rateLimited.get()).values),
    { name: "failed", count: sum(failed) },
  ];
}

async function readWorker({ publishLag }: Metrics): Promise<Reading[]> {
  const { values } = await publishLag.get();
  const of = (suffix: string): number =>
    sum(values.filter(({ metricName = "" }) => metricName.endsWith(suffix)));
  return [{ name: "published", count: of("_count"), total: of("_sum") }];
}

/** One reading for each value of a label; several series of one value are one. */
function labelled(prefix: string, label: string, values: Values): Reading[] {
  const counts = new Map<string, number>();
  for (const { value, labels } of values) {
    const name = `${prefix} ${labels[label] ?? ""}`;
    counts.set(name, (counts.get(name) ?? 0) + value);
  }
  return [...counts].map(([name, count]) => ({ name, count }));
}

function sum(values: Values): number {
  return values.reduce((total, { value }) => total + value, 0);
}
