import { processHealth, publishingHealth } from "./health.ts";
import { duration, type Mood, number } from "./markup.ts";
import type { Numbers } from "./numbers.ts";

/** A large number of the overview; the live stream sends them anew. */
export interface Figure {
  readonly key: string;
  readonly label: string;
  readonly value: string;
  readonly note: string;
  /** Whether it is a worry; most figures are none. */
  readonly mood: Mood;
}

/** Minutes over which the lag is told: one alone is often empty. */
const LAG_MINUTES = 10;

export function figuresOf(numbers: Numbers): readonly Figure[] {
  const { points, hour, pending, oldestPendingSeconds } = numbers;
  const last = (index: number, minutes: number): number[] =>
    points.slice(-minutes).flatMap((point) => point[index + 1] ?? []);
  const sumOf = (prefix: string): number =>
    [...hour].reduce((sum, [name, count]) => (name.startsWith(prefix) ? sum + count : sum), 0);
  const lags = last(4, LAG_MINUTES);
  const lag = lags.reduce((sum, value) => sum + value, 0) / lags.length;
  // The running minute is still filling: the one before it is whole.
  const whole = points.at(-2)?.[1] ?? 0;
  const atWork = numbers.processes.filter(
    (process) => processHealth(process, numbers.at).mood === "good",
  );
  const lost = numbers.processes.filter(
    (process) => processHealth(process, numbers.at).mood === "bad",
  ).length;
  const workers = atWork.filter(({ role }) => role === "worker").length;
  return [
    {
      key: "stars",
      label: "Stars per minute",
      value: number(whole),
      note: `${number(sumOf("accepted "))} in the last hour`,
      mood: "plain",
    },
    {
      key: "refusals",
      label: "Refused, last hour",
      value: number(sumOf("refused ")),
      note: `and ${number(sumOf("limited "))} by rate limits`,
      mood: "plain",
    },
    {
      key: "lag",
      label: "Publish lag",
      value: lags.length === 0 ? "–" : duration(lag * 1_000),
      note: `mean of ${LAG_MINUTES} min`,
      mood: "plain",
    },
    {
      key: "pending",
      label: "Waiting to be published",
      value: number(pending),
      note:
        oldestPendingSeconds === null
          ? "nothing waits"
          : `the oldest for ${duration(oldestPendingSeconds * 1_000)}`,
      mood: publishingHealth(numbers).mood,
    },
    {
      key: "processes",
      label: "Processes at work",
      value: number(atWork.length),
      note: `${number(atWork.length - workers)} web, ${number(workers)} worker${lost === 0 ? "" : `, ${number(lost)} lost`}`,
      mood: lost === 0 ? "plain" : "bad",
    },
  ];
}
