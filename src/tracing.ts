import type { Attributes, Span } from "@opentelemetry/api";
import type { Service } from "./service.ts";

/** Traces by OpenTelemetry. Names of spans are fixed words: what varies is an attribute. */
export interface Tracing extends Service {
  /** Does the work in a span below the active one, or below `options.traceparent`. */
  inSpan<T>(
    name: string,
    work: (span: Span) => Promise<T>,
    options?: SpanOptions & { readonly isRequest?: boolean },
  ): Promise<T>;
  /** A span that ends now; none where nothing is traced. */
  ended(name: string, seconds: number, options?: SpanOptions): void;
  /** The same function, which runs in the present span whenever it is called. */
  bind<Work extends (...given: never[]) => unknown>(work: Work): Work;
  /** The active span as W3C's header names it; undefined where nothing is recorded. */
  traceparent(): string | undefined;
}

export interface SpanOptions {
  /** The span above it, from another process. */
  readonly traceparent?: string | undefined;
  readonly attributes?: Attributes;
}

/** Undefined unless the environment asks for traces: then no package of theirs is loaded either. */
export let tracing: Tracing | undefined;

/** Switches tracing on for this process; undefined: off. */
export function setTracing(given: Tracing | undefined): void {
  tracing = given;
}

export function inSpan<T>(name: string, work: () => Promise<T>): Promise<T> {
  return tracing === undefined ? work() : tracing.inSpan(name, work);
}

/** For work that waits in a queue, whose turn comes in the context of another. */
export function bound<Work extends (...given: never[]) => unknown>(work: Work): Work {
  return tracing === undefined ? work : tracing.bind(work);
}

/** The id of the trace in a `traceparent`: what a log line and the console show. */
export function traceIdOf(traceparent: string): string {
  return traceparent.split("-")[1] ?? "";
}
