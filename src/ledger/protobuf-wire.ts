/**
 * A reader for the little protobuf that public keys and signature maps need:
 * lengths and small integers. Anything else, and anything cut short or left
 * over, is malformed. Written by hand because it reads what strangers send, and
 * so that the web process starts without a protobuf runtime.
 */

/** One field as it stood on the wire. */
export type WireField =
  | { readonly number: number; readonly bytes: Uint8Array }
  | { readonly number: number; readonly integer: number };

/** The bytes are not the message they should be. Never leaves `src/ledger`. */
export class MalformedMessage extends Error {
  override readonly name = "MalformedMessage";
}

const WIRE_VARINT = 0;
const WIRE_LENGTH = 2;
/** Five groups of seven bits carry a uint32; the fifth may use four of its bits. */
const VARINT_BYTES_MAX = 5;
const UINT32_MAX = 0xffff_ffff;

/** Splits a message into its fields, in order. @throws MalformedMessage */
export function readFields(message: Uint8Array): readonly WireField[] {
  const fields: WireField[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let i = 0; i < VARINT_BYTES_MAX; i++) {
      const byte = message[at++];
      if (byte === undefined) throw new MalformedMessage("cut short");
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) {
        if (value > UINT32_MAX) break;
        return value;
      }
    }
    throw new MalformedMessage("integer beyond 32 bits");
  };
  while (at < message.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    if (number === 0) throw new MalformedMessage("field number 0");
    const value = varint();
    if (tag % 8 === WIRE_VARINT) {
      fields.push({ number, integer: value });
    } else if (tag % 8 === WIRE_LENGTH) {
      if (value > message.length - at) throw new MalformedMessage("cut short");
      fields.push({ number, bytes: message.subarray(at, at + value) });
      at += value;
    } else {
      throw new MalformedMessage(`wire type ${tag % 8}`);
    }
  }
  return fields;
}

/** The bytes of a field that must be length-delimited. @throws MalformedMessage */
export function bytesOf(field: WireField): Uint8Array {
  if (!("bytes" in field)) throw new MalformedMessage("an integer where bytes belong");
  return field.bytes;
}
