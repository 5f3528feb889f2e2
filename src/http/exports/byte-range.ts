/** Bytes of a representation, both ends included (RFC 9110, section 14). */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

const SINGLE = /^bytes=(\d{0,15})-(\d{0,15})$/;

/**
 * Reads a `Range` header.
 *
 * @param length of the whole
 * @returns undefined for what is to be ignored (several ranges, another unit, a malformed one),
 *   "unsatisfiable" for a range that lies outside
 */
export function byteRange(
  header: string | undefined,
  length: number,
): ByteRange | "unsatisfiable" | undefined {
  const [, from = "", to = ""] = SINGLE.exec(header ?? "") ?? [];
  if (from === "" && to === "") return undefined;
  if (from !== "" && to !== "" && Number(from) > Number(to)) return undefined;
  const first = from === "" ? Math.max(0, length - Number(to)) : Number(from);
  const last = from === "" || to === "" ? length - 1 : Math.min(Number(to), length - 1);
  return first > last ? "unsatisfiable" : { first, last };
}

/** The part of a text, piece by piece, that a range of its UTF-8 bytes names. */
export async function* sliceBytes(
  pieces: AsyncIterable<string>,
  { first, last }: ByteRange,
): AsyncGenerator<Uint8Array> {
  let at = 0;
  for await (const piece of pieces) {
    const bytes = Buffer.from(piece);
    const part = bytes.subarray(Math.max(0, first - at), Math.max(0, last + 1 - at));
    at += bytes.length;
    if (part.length > 0) yield part;
    if (at > last) return;
  }
}
