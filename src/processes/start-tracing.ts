import type { Settings } from "../config.ts";
import type { Logger } from "../log.ts";
import type { Service } from "../service.ts";
import { setTracing, traceIdOf, tracing } from "../tracing.ts";

/** By the standard traces go nowhere without a place, and the SDK may be switched off as a whole. */
export function isTraced(settings: Settings): boolean {
  if (settings.OTEL_SDK_DISABLED) return false;
  const exporter = settings.OTEL_TRACES_EXPORTER;
  const isAddressed =
    settings.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined ||
    settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT !== undefined;
  return exporter === undefined ? isAddressed : exporter === "otlp";
}

/** The field of each log line that names its trace; undefined where nothing is traced. */
export function traceFields(settings: Settings): (() => { traceId?: string }) | undefined {
  if (!isTraced(settings)) return undefined;
  return () => {
    const traceparent = tracing?.traceparent();
    return traceparent === undefined ? {} : { traceId: traceIdOf(traceparent) };
  };
}

/**
 * Starts tracing where the environment asks for it; else loads nothing.
 *
 * @param role of the process; `starboard-<role>` is the service's name unless another one is set
 */
export async function startTracing(
  settings: Settings,
  { role, log }: { readonly role: string; readonly log: Logger },
): Promise<Service> {
  if (!isTraced(settings)) return { close: async () => undefined };
  const protocol = settings.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol !== undefined && protocol !== "http/json") {
    log.warn(`OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}, but traces are sent as http/json`);
  }
  const { openTelemetry } = await import("./open-telemetry.ts");
  const opened = openTelemetry(`starboard-${role}`, log);
  setTracing(opened);
  return opened;
}
