import {
  context,
  DiagLogLevel,
  diag,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { type Logger, oncePerOutage } from "../log.ts";
import { ownVersion } from "../this-build.ts";
import type { SpanOptions, Tracing } from "../tracing.ts";
import { withDeadline } from "../with-deadline.ts";

/** A process that ends does not wait longer for a collector. */
const LAST_SEND_WITHIN_MS = 2_000;

/**
 * Traces that go to a collector by OTLP over HTTP. Where it is, what is sampled and what each
 * batch holds, the SDK reads from the standard's `OTEL_*` variables.
 *
 * @param service the name of the service where `OTEL_SERVICE_NAME` gives none
 */
export function openTelemetry(service: string, log: Logger): Tracing {
  const outage = oncePerOutage(log, "traces are not sent");
  reportTo(outage.failed);
  const own = resourceFromAttributes({ "service.name": service, "service.version": ownVersion() });
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(own)
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(heardExporter(outage.over))],
  });
  provider.register();
  const tracer = trace.getTracer("starboard", ownVersion());

  const present = () => {
    const span = trace.getActiveSpan();
    return span?.isRecording() ? span : undefined;
  };
  // What is no header of the standard's begins a new trace.
  const above = ({ traceparent }: SpanOptions) =>
    traceparent === undefined
      ? context.active()
      : propagation.extract(ROOT_CONTEXT, { traceparent });

  return {
    async inSpan(name, work, { isRequest = false, ...options } = {}) {
      const kind = isRequest ? SpanKind.SERVER : SpanKind.INTERNAL;
      const { attributes = {} } = options;
      return tracer.startActiveSpan(name, { kind, attributes }, above(options), async (span) => {
        try {
          return await work(span);
        } catch (error) {
          const message = error instanceof Error ? error.message : String(error);
          span.setStatus({ code: SpanStatusCode.ERROR, message });
          throw error;
        } finally {
          span.end();
        }
      });
    },
    ended(name, seconds, options = {}) {
      if (options.traceparent === undefined && present() === undefined) return;
      const startTime = Date.now() - seconds * 1_000;
      const { attributes = {} } = options;
      const kind = SpanKind.CLIENT;
      tracer.startSpan(name, { kind, startTime, attributes }, above(options)).end();
    },
    bind: (work) => context.bind(context.active(), work),
    traceparent() {
      const span = present()?.spanContext();
      return span && `00-${span.traceId}-${span.spanId}-01`;
    },
    async close() {
      await withDeadline(provider.shutdown(), LAST_SEND_WITHIN_MS).catch(() => undefined);
    },
  };
}

function heardExporter(onSent: () => void): OTLPTraceExporter {
  const exporter = new OTLPTraceExporter();
  const send = exporter.export.bind(exporter);
  exporter.export = (spans, done) =>
    send(spans, (result) => {
      if (result.error === undefined) onSent();
      done(result);
    });
  return exporter;
}

/** What the SDK complains of is one line per outage of the collector. */
function reportTo(onFailure: (error: Error) => void): void {
  const heard = (message: string): void => onFailure(new Error(message));
  const unheard = (): void => undefined;
  diag.setLogger(
    { error: heard, warn: heard, info: unheard, debug: unheard, verbose: unheard },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
