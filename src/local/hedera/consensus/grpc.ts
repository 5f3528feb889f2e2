import type { ServerUnaryCall, ServiceDefinition, sendUnaryData } from "@grpc/grpc-js";

/** A call as it came: the bytes of a `Transaction` or a `Query`. */
export type RawCall = ServerUnaryCall<Buffer, Buffer>;
export type RawReply = sendUnaryData<Buffer>;

/**
 * Bytes in, bytes out: what does not decode must become a precheck code, not a gRPC error,
 * so decoding is the handler's affair.
 */
export function rawService<Method extends string>(
  service: string,
  methods: readonly Method[],
): ServiceDefinition<Record<Method, (call: RawCall, reply: RawReply) => void>> {
  const same = (bytes: Buffer): Buffer => bytes;
  const entries = methods.map((method) => [
    method,
    {
      path: `/proto.${service}/${method}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: same,
      requestDeserialize: same,
      responseSerialize: same,
      responseDeserialize: same,
    },
  ]);
  return Object.fromEntries(entries);
}
