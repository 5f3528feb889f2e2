import { judged, processHealth, publishingHealth } from "./health.ts";
import { type Content, duration, html, type Mood, number } from "./markup.ts";
import { LAG_MINUTES, type Numbers } from "./numbers.ts";

/** A large number of the overview; the live stream sends it again when it changes. */
export interface Figure {
  readonly key: string;
  readonly label: string;
  readonly value: string;
  readonly note: string;
  /** The page that shows more of it. */
  readonly page: string;
  /** Whether it is a worry; most figures are none. */
  readonly mood: Mood;
}

/** Figures as large numbers in a row; the page's script keeps those it knows by their key. */
export function figureList(
  figures: readonly (Pick<Figure, "label" | "value" | "note"> & Partial<Figure>)[],
): Content {
  return figures.map(
    ({ key = "", label, value, note, page, mood = "plain" }) =>
      html`<div class="figure ${mood}" data-figure-box="${key}">
<div class="label">${page === undefined ? label : html`<a href="${page}">${label}</a>`}</div>
<div class="value" data-figure="${key}">${value}</div>
<div class="note" data-figure-note="${key}">${note}</div>
</div>`,
  );
}

export function figuresOf(numbers: Numbers): readonly Figure[] {
  const { points, hour, lagSeconds, pending, oldestPendingSeconds } = numbers;
  const sumOf = (prefix: string): number =>
    [...hour].reduce((sum, [name, count]) => (name.startsWith(prefix) ? sum + count : sum), 0);
  // A star that waits has no lag yet; it is this long at least.
  const waitsLonger =
    oldestPendingSeconds !== null && !(lagSeconds !== null && oldestPendingSeconds <= lagSeconds);
  const lag = waitsLonger ? oldestPendingSeconds : lagSeconds;
  const lagMean =
    lagSeconds === null ? "" : `; mean of ${LAG_MINUTES} min: ${duration(lagSeconds * 1_000)}`;
  // The running minute is still filling: the one before it is whole.
  const whole = points.at(-2)?.[1] ?? 0;
  const processesThat = (mood: Mood) =>
    numbers.processes.filter((process) => processHealth(process, numbers.at).mood === mood);
  const atWork = processesThat("good");
  const lost = processesThat("bad").length;
  const workers = atWork.filter(({ role }) => role === "worker").length;
  const publishingMood = publishingHealth(numbers.verdict).mood;
  return [
    {
      key: "stars",
      label: "Stars per minute",
      value: number(whole),
      note: `${number(sumOf("accepted "))} in the last hour`,
      page: "/ops/stars",
      mood: "plain",
    },
    {
      key: "refusals",
      label: "Refused, last hour",
      value: number(sumOf("refused ")),
      note: `and ${number(sumOf("limited "))} by rate limits`,
      page: "/ops/feed",
      mood: "plain",
    },
    {
      key: "lag",
      label: "Publish lag",
      value: lag === null ? "–" : duration(lag * 1_000),
      note: waitsLonger
        ? `and more: the oldest still waits${lagMean}`
        : `mean of ${LAG_MINUTES} min`,
      page: "/ops/publishing",
      mood: publishingMood,
    },
    {
      key: "pending",
      label: "Waiting to be published",
      value: number(pending),
      note:
        oldestPendingSeconds === null
          ? "nothing waits"
          : `the oldest for ${duration(oldestPendingSeconds * 1_000)}`,
      page: "/ops/publishing",
      mood: publishingMood,
    },
    {
      key: "processes",
      label: "Processes at work",
      value: number(atWork.length),
      note: `${number(atWork.length - workers)} web, ${number(workers)} worker${lost === 0 ? "" : `, ${number(lost)} lost`}`,
      page: "/ops#processes",
      mood: lost > 0 || judged(numbers.verdict, "processes").mood === "bad" ? "bad" : "plain",
    },
  ];
}
