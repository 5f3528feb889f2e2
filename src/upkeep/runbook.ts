/** What an alarm means to the person who is woken by it. */
export interface RunbookEntry {
  readonly title: string;
  /** What is wrong. */
  readonly means: string;
  /** What the service does until somebody comes. */
  readonly meanwhile: string;
  /** In this order. */
  readonly todo: readonly string[];
}

/**
 * The runbook: one entry for each check of the verdict and each alert of Prometheus. The console
 * shows it at `/ops/alarms`; `npm run runbook` writes `docs/operating/alarms.md` from it.
 */
export const RUNBOOK = {
  processes: {
    title: "A kind of process is missing",
    means: "No web process, or no worker, has reported itself to Postgres for a minute.",
    meanwhile:
      "Without a worker stars are accepted and wait for the ledger. Without a web process none is accepted.",
    todo: [
      "See whether the process runs, and read its last log lines: a start that fails says why in one line.",
      "Run `starboard work --check` or `starboard serve --check` with its settings.",
      "Start it again. It continues with the work that was left.",
    ],
  },
  postgres: {
    title: "Postgres has no room, or is away",
    means:
      "The last star was not stored because the disk of Postgres is full (SQLSTATE 53100), or Postgres does not answer: a write-ahead log without room stops it.",
    meanwhile:
      "Stars are answered 503 and spend nothing. Reads go on, unless Postgres does not answer at all.",
    todo: [
      "Where it does not answer: its own log says why; `starboard doctor` says how it is reached.",
      "`df` on the server, for the data folder and for the write-ahead log.",
      "Postgres keeps a growing log for a consumer: a replication slot without a standby (`select * from pg_replication_slots`), or an `archive_command` that fails.",
      "Make room, or enlarge the disk. Never delete files of `pg_wal` by hand.",
      "The alarm of a full disk clears with the next star that is stored; that of an absent Postgres with its first answer.",
    ],
  },
  redis: {
    title: "Redis may evict, or is away",
    means: "Redis has another policy than `noeviction`, or has not answered for a minute.",
    meanwhile:
      "Stars go on. With a policy that evicts, `/readyz` answers 503, because queued rewards may vanish; while Redis is away rewards wait in Postgres and limits hold per process.",
    todo: [
      "`redis-cli config set maxmemory-policy noeviction`, and the same in its configuration file.",
      "Where it is away: start it; every process connects again within seconds.",
    ],
  },
  mirror: {
    title: "The mirror node is behind, or away",
    means: "The newest block is two minutes old, or no process has had an answer for a minute.",
    meanwhile:
      "Away: stars are answered 503 `HOLDINGS_UNAVAILABLE` and spend nothing. Behind: holdings are old, and confirmation of messages waits.",
    todo: [
      "See the provider's status page; `curl $MIRROR_NODE_URL/api/v1/blocks?limit=1`.",
      "Away: name a second mirror node in `MIRROR_NODE_URL`, after a comma, and restart. Behind: the same helps; a node that is a minute behind another one is asked last, and noticed within ten seconds.",
    ],
  },
  balance: {
    title: "The operator's account runs dry",
    means:
      "It pays for fewer than 1,000 messages, or for less than a week at the pace of the last day.",
    meanwhile:
      "Publishing goes on until the account is empty. Then stars are accepted and wait; none is lost.",
    todo: ["Send HBAR to the account that the verdict names. It is noticed within 15 seconds."],
  },
  alarms: {
    title: "Publishing needs a person",
    means:
      "The ledger refuses for a reason that only a person can cure (key, funds, topic), a transaction id was used by somebody else, consensus and mirror nodes contradict each other, the topics hold stars that the journal lacks, or machine and journal contradict each other.",
    meanwhile: "Stars are accepted and wait. Where the journal lacks stars, none is accepted.",
    todo: [
      "`starboard publishing status` names the reason; `starboard doctor` checks key, balance and topics.",
      "`configuration`: cure what it names. Sending goes on by itself within seconds.",
      "`journal-behind`: see [the journal comes back](recover.md).",
      "`foreign`, `returned`, `contradiction`: keep the logs and look at the star's page in the console.",
      "`machine-contradiction`: a defect. Keep the error log; `starboard actors replay` on the actor that it names.",
    ],
  },
  findings: {
    title: "Outbox and topics differ",
    means:
      "A message is missing, double, foreign, malformed, changed, misplaced, or breaks the running hash.",
    meanwhile: "Publishing goes on. The public audit will show the same difference.",
    todo: [
      "`starboard publishing status` lists each with its topic and sequence number.",
      "Foreign: somebody else can write to the topic. See its submit key with `starboard doctor`.",
      "`starboard publishing resolve ID` sets one aside after somebody has looked at it.",
    ],
  },
  publishing: {
    title: "Stars wait for the ledger",
    means: "The oldest accepted star is not confirmed on its topic after a minute.",
    meanwhile:
      "Stars are accepted, and are published oldest first as soon as the ledger takes them.",
    todo: [
      "Is there an alarm beside it? Cure that first.",
      "See that a worker runs, and that it reaches the consensus nodes and the mirror node: `starboard doctor`.",
      "`starboard_publishing_failures_total` says by reason why attempts fail.",
    ],
  },
  rewards: {
    title: "Stars wait for rewards",
    means: "The oldest star was not taken by the queue `rewards` after a minute.",
    meanwhile: "Stars go on; each is offered when the queue takes jobs again.",
    todo: [
      "See that Redis answers and takes writes: `starboard doctor`.",
      "See that the queue `rewards` has a consumer: the console's page Queues shows what waits in it.",
    ],
  },
  exports: {
    title: "A day's export is late or was changed",
    means:
      "A day that is over is not final after half an hour, or the journal of a final day no longer makes the same bytes.",
    meanwhile: "The API goes on. Auditors wait for the day, or will find that it was changed.",
    todo: [
      "Late: each star of that day must be published first. See the alarms of publishing.",
      "Changed: compare `/exports/{day}` with earlier copies. The worker's log names the day. Restore the journal from a backup rather than by hand.",
    ],
  },
  "holdings-check": {
    title: "The daily holdings check is not done",
    means: "The check of forever mints did not run today, has not ended, or left parts open.",
    meanwhile:
      "Serials that wallets no longer hold keep their weight until the check has done them; a star by the new holder of such a serial releases it first.",
    todo: [
      "See that the mirror node answers; the check goes on by itself.",
      "`starboard holdings-check run` checks now and names what stays open.",
    ],
  },
  contradiction: {
    title: "Machine and journal contradict each other",
    means: "The journal handed a star back although a new reading of it is the same.",
    meanwhile: "That star is answered 500 and not stored. Others go on.",
    todo: [
      "It is a defect: keep the error log, which names the actor.",
      "`starboard actors replay <id>` says where journal and machine differ.",
    ],
  },
  down: {
    title: "A process does not answer Prometheus",
    means: "A target of the job `starboard` has not answered for two minutes.",
    meanwhile: "The other processes of its kind serve.",
    todo: [
      "Look at that process: `/healthz`, its log, its host. See that `METRICS_TOKEN` is right.",
    ],
  },
  gone: {
    title: "Prometheus finds no process, or no web process",
    means:
      "For two minutes no target of the job `starboard` has answered, or none of a web process, which alone tells the verdict.",
    meanwhile: "Without a web process no client is served. Workers publish what is stored.",
    todo: [
      "`starboard status` says which processes report: start `starboard serve` where none does.",
      "Where they do report, see how Prometheus finds them: addresses, `METRICS_TOKEN`.",
    ],
  },
  failing: {
    title: "Replies fail",
    means: "More than one reply in a hundred is 500 or above.",
    meanwhile: "Clients retry with their `Idempotency-Key`.",
    todo: [
      "503 comes from a dependency: the verdict and `/readyz` name it.",
      "500 is a defect: the error log has the request's id.",
    ],
  },
  slow: {
    title: "Stars are slow",
    means: "One star in a hundred takes more than two seconds; three are the limit.",
    meanwhile: "Those beyond three seconds are answered 503 and spend nothing.",
    todo: [
      "`starboard_mirror_request_duration_seconds` by route: is it the mirror node?",
      "`starboard_postgres_connections` and `starboard_nodejs_eventloop_lag_p99_seconds`: is it Postgres, or this process?",
      "See [capacity](capacity.md), and start another web process.",
    ],
  },
} as const satisfies Readonly<Record<string, RunbookEntry>>;

/** What a link to the runbook ends with. */
export type RunbookAnchor = keyof typeof RUNBOOK;

/** Where the entry stands in the repository. */
export function runbookPath(anchor: RunbookAnchor): string {
  return `docs/operating/alarms.md#${anchor}`;
}

/** `docs/operating/alarms.md` */
export function runbookMarkdown(): string {
  const entries: readonly (readonly [string, RunbookEntry])[] = Object.entries(RUNBOOK);
  const sections = entries.map(
    ([anchor, { title, means, meanwhile, todo }]) => `<a id="${anchor}"></a>

## ${title}

${means}

**Meanwhile:** ${meanwhile}

${todo.map((step, index) => `${index + 1}. ${step}`).join("\n")}
`,
  );
  return `# Alarms

One entry for each line of the verdict (the console's Overview and banner, \`/ops/api/health\`,
\`starboard status\`, \`starboard_check_failing\`) and for each alert of
[\`deploy/prometheus/alerts.yaml\`](../../deploy/prometheus/alerts.yaml). Written by \`npm run runbook\` from
[\`src/upkeep/runbook.ts\`](../../src/upkeep/runbook.ts); the console shows it at \`/ops/alarms\`.

${sections.join("\n")}`;
}
