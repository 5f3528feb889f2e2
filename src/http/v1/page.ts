/** What a paged list says beside its records; past the end it is empty and has no more. */
export function pageOf(
  { limit, offset }: { readonly limit: number; readonly offset: number },
  records: readonly unknown[],
  total: number,
) {
  return { total, hasMore: offset + records.length < total, limit, offset };
}

/** RFC 3339, UTC, with milliseconds (contract, section 1). */
export function instant(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
