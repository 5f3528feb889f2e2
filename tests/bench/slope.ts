/**
 * The slope of points by Theil and Sen: the median of the slopes between all pairs, which a few
 * outliers do not move.
 */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x, y], index) =>
    points.slice(index + 1).map(([laterX, laterY]) => (laterY - y) / (laterX - x)),
  );
  const sorted = slopes.filter(Number.isFinite).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
