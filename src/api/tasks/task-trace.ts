import { MusterError, UsageError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { VERSION } from '../../base/version.ts';
import { loadConfig } from '../../config/load.ts';
import { homeDirectory, type Environment } from '../../sys/env.ts';
import { TRUST_NOTHING } from '../../sys/files/project-file.ts';
import { createHttpFetch } from '../../sys/http/http-fetch.ts';
import {
  readExportSettings,
  readResource,
  type OtelConfig,
} from '../../telemetry/export-settings.ts';
import { OtlpClient } from '../../telemetry/otlp-client.ts';
import { BATCH_SPANS, encodeTraces, type OtlpSource } from '../../telemetry/otlp-json.ts';
import { readTraceSpans } from '../../telemetry/read-trace.ts';
import type { EventLogs } from '../../telemetry/event-follower.ts';

/** The receiver of a trace, and the number of its spans. */
export interface SentTrace {
  readonly spans: number;
  /** The address, without a password. */
  readonly to: string;
}

/** Returns the spans of a task and all tasks below it as one OTLP request in JSON. */
export async function buildTrace(
  logs: EventLogs,
  id: string,
  environment: Environment,
): Promise<JsonObject> {
  const otel = await loadOtelConfig(environment);
  return encodeTraces(readTraceSpans(logs, id, otel), createSource(environment));
}

/**
 * Sends the spans of a task and all tasks below it to the receiver of the environment or the user's configuration.
 * Rejects with UsageError if there is none, and with MusterError `PROVIDER_ERROR` if it does not accept the spans.
 */
export async function sendTrace(
  logs: EventLogs,
  id: string,
  environment: Environment,
): Promise<SentTrace> {
  const otel = await loadOtelConfig(environment);
  const { settings, problem } = readExportSettings(environment, otel);
  const url = settings?.tracesUrl ?? null;
  if (settings === undefined || url === null) {
    throw new UsageError(
      problem ??
        'no receiver of traces is known: set OTEL_EXPORTER_OTLP_ENDPOINT, or endpoint in [otel] of your configuration',
    );
  }
  const spans = readTraceSpans(logs, id, otel);
  const source = createSource(environment);
  const client = new OtlpClient(createHttpFetch(environment), settings.headers);
  const to = `${url.origin}${url.pathname}`;
  for (let sent = 0; sent < spans.length; sent += BATCH_SPANS) {
    const batch = spans.slice(sent, sent + BATCH_SPANS);
    const body = encodeTraces(batch, source);
    const outcome = await client.send(url, body, new AbortController().signal);
    if (outcome.kind === 'sent') continue;
    const done = `${sent} of ${spans.length} spans were sent`;
    throw new MusterError('PROVIDER_ERROR', `${to}: ${outcome.reason}; ${done}`);
  }
  return { spans: spans.length, to };
}

async function loadOtelConfig(environment: Environment): Promise<OtelConfig> {
  const home = homeDirectory(environment);
  const cwd = process.cwd();
  const loaded = await loadConfig({ environment, home, cwd, trust: TRUST_NOTHING, flags: [] });
  return loaded.config.otel;
}

function createSource(environment: Environment): OtlpSource {
  return { resource: readResource(environment), version: VERSION };
}
