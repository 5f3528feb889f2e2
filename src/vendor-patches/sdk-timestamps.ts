/** As much of the SDK as generates timestamps. */
interface TimestampMaker<Timestamp> {
  readonly Timestamp: {
    generate: (hasJitter?: boolean) => Timestamp;
    readonly fromDate: (date: Date) => Timestamp;
  };
}

/**
 * `@hashgraph/sdk` 2.81.0 (2.87.0 alike) generates a timestamp for every query, even a free one,
 * and keeps all of them in a set of its module, so that no two are equal: 0.4 KB a message, a
 * worker's whole memory in some days. Our transaction ids come from Postgres and do not use these
 * timestamps, so two may be equal.
 */
export function keepNoTimestamps<Timestamp>({ Timestamp }: TimestampMaker<Timestamp>): void {
  Timestamp.generate = () => Timestamp.fromDate(new Date());
}
