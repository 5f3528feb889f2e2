import { Client, type ClientUnaryCall } from "@grpc/grpc-js";

/** Long after the caller gave up: what is cut off here is no longer an answer. */
const CALL_ENDS_MS = 10_000;
/** Method, two codecs, request, metadata, callback: a call as the SDK starts it, without options. */
const PARTS_OF_CALL = 6;

type StartCall = (this: Client, ...parts: unknown[]) => ClientUnaryCall;

let isLimited = false;

/**
 * `@hashgraph/sdk` 2.81.0 starts its calls without a deadline (hiero-sdk-js issue 3435; its own
 * `grpcDeadline` only races the call): to a node that holds its connection open and never
 * answers, a call would never end, and keep its connection, even a closed one. gRPC's own
 * deadline ends it, and is taken away with the answer. Done once per process.
 */
export function limitGrpcCalls(endsMs = CALL_ENDS_MS): void {
  if (isLimited) return;
  isLimited = true;
  const { prototype } = Client;
  // Its four overloads are one function here: the number of parts says which one it is.
  const start = prototype.makeUnaryRequest as unknown as StartCall;
  const startWithDeadline: StartCall = function (...parts) {
    if (parts.length !== PARTS_OF_CALL) return start.apply(this, parts);
    const options = { deadline: Date.now() + endsMs };
    return start.call(this, ...parts.slice(0, -1), options, parts.at(-1));
  };
  prototype.makeUnaryRequest = startWithDeadline as typeof prototype.makeUnaryRequest;
}
