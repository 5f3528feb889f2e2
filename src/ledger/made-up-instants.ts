/** As much of the SDK as makes instants up. */
interface InstantMaker<Instant> {
  readonly Timestamp: {
    generate: (hasJitter?: boolean) => Instant;
    readonly fromDate: (date: Date) => Instant;
  };
}

/**
 * The SDK makes up an instant for every query, even a free one that nobody pays for, and keeps
 * all of them for ever, lest it make one up twice: 0.4 KB a message, a worker's whole memory in
 * some days. Our transaction ids come from Postgres, so nobody reads these.
 */
export function forgetMadeUpInstants<Instant>({ Timestamp }: InstantMaker<Instant>): void {
  Timestamp.generate = () => Timestamp.fromDate(new Date());
}
