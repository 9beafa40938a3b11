import type { LoadedConfig } from '../../config/load.ts';
import { newId } from '../../base/ids.ts';
import type { TaskEvent } from '../../protocol/events/event.ts';
import type { TaskSpec } from '../../protocol/task.ts';
import type { EventLogs } from '../../telemetry/event-follower.ts';
import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import type { Environment } from '../../sys/env.ts';
import { TRACE_VARIABLE } from '../../sys/processes/command-environment.ts';

/** The export of traces and metrics of a session. */
export interface SessionTelemetry {
  /** Queues an event. Fast, and never throws. `tree`: the id of the root task. */
  push(event: TaskEvent, tree: string): void;
  /** The W3C trace context of Muster's own environment, for root tasks. Absent if there is none that is valid. */
  readonly traceparent?: string;
  /** Returns the W3C trace context of a call, for the commands that it runs. */
  traceparentOf(spec: TaskSpec, callId: string): string;
  /** Exports what is left, within two seconds. */
  close(): Promise<void>;
}

interface TelemetryOptions {
  readonly environment: Environment;
  readonly loaded: Pick<LoadedConfig, 'config'>;
  /** The secrets that are removed from notices. The values of headers are added to it. */
  readonly secrets: string[];
  readonly onNotice: (line: string) => void;
}

/**
 * Opens the export of traces and metrics. Returns null, and loads nothing, unless the environment or the user's
 * configuration names a receiver.
 */
export async function openTelemetry(
  { environment, loaded, secrets, onNotice }: TelemetryOptions,
  logs: EventLogs,
): Promise<SessionTelemetry | null> {
  const { otel } = loaded.config;
  if (!namesReceiver(environment, otel.endpoint)) return null;
  const { readExportSettings } = await import('../../telemetry/export-settings.ts');
  const { settings, problem } = readExportSettings(environment, otel);
  if (problem !== undefined) onNotice(`telemetry: nothing is exported: ${problem}`);
  if (settings === undefined) return null;
  secrets.push(...Object.values(settings.headers).filter((value) => value.length >= 8));
  const [{ TelemetryExporter }, { OtlpClient }, ids, { VERSION }] = await Promise.all([
    import('../../telemetry/exporter.ts'),
    import('../../telemetry/otlp-client.ts'),
    import('../../telemetry/trace-ids.ts'),
    import('../../base/version.ts'),
  ]);
  const exporter = new TelemetryExporter({
    settings,
    source: {
      resource: { ...settings.resource, 'service.instance.id': newId() },
      version: VERSION,
    },
    client: new OtlpClient(createHttpFetch(environment), settings.headers),
    logs,
    now: Date.now,
    onNotice,
  });
  const outer = ids.parseTraceparent(environment[TRACE_VARIABLE] ?? '');
  return {
    push: (event, tree) => exporter.push(event, tree),
    ...(outer === null ? {} : { traceparent: ids.formatTraceparent(outer) }),
    traceparentOf: ids.traceparentOfCall,
    close: () => exporter.close(),
  };
}

/** Tells whether anything names a receiver. This module is loaded at each start, so it must not load the export. */
function namesReceiver(environment: Environment, endpoint: string | null): boolean {
  if (environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false;
  const names = ['ENDPOINT', 'TRACES_ENDPOINT', 'METRICS_ENDPOINT'];
  return (
    endpoint !== null ||
    names.some((name) => (environment[`OTEL_EXPORTER_OTLP_${name}`] ?? '') !== '')
  );
}
