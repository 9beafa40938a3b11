import { VERSION } from '../base/version.ts';
import type { Environment } from '../sys/env.ts';
import type { Attributes } from './span-record.ts';

/** The section `otel` of the configuration. */
export interface OtelConfig {
  /** The base address of the receiver; null: none is set. */
  readonly endpoint: string | null;
  /** The name of the environment variable with the headers of requests; null: `OTEL_EXPORTER_OTLP_HEADERS`. */
  readonly headersEnv: string | null;
  readonly content: boolean;
}

/** The receiver and the content of an export. */
export interface ExportSettings {
  /** The address for spans; null: none are exported. */
  readonly tracesUrl: URL | null;
  /** The address for metrics; null: none are exported. */
  readonly metricsUrl: URL | null;
  readonly headers: Readonly<Record<string, string>>;
  /** The attributes that say which service sends the data. */
  readonly resource: Attributes;
  readonly content: boolean;
}

/** The settings of an export, or the reason why there is none; both absent if none is wanted. */
export interface ExportSettingsResult {
  readonly settings?: ExportSettings;
  readonly problem?: string;
}

/**
 * Reads the settings of an export from the variables that OpenTelemetry defines, and from the configuration. A variable
 * takes precedence.
 */
export function readExportSettings(env: Environment, config: OtelConfig): ExportSettingsResult {
  const protocol = env['OTEL_EXPORTER_OTLP_PROTOCOL'] ?? '';
  if (protocol === 'grpc') {
    return {
      problem:
        'OTEL_EXPORTER_OTLP_PROTOCOL is grpc, but Muster sends OTLP over HTTP: set it to http/json, and the endpoint to the HTTP port of the receiver (usually 4318)',
    };
  }
  const headersName = config.headersEnv ?? 'OTEL_EXPORTER_OTLP_HEADERS';
  const headers = parsePairs(env[headersName] ?? '');
  if (headers === null)
    return { problem: `${headersName} must have the form NAME=VALUE,NAME=VALUE` };
  const traces = findAddress(env, config, 'traces');
  const metrics = findAddress(env, config, 'metrics');
  const problem = traces.problem ?? metrics.problem;
  if (problem !== undefined) return { problem };
  const { url: tracesUrl = null } = traces;
  const { url: metricsUrl = null } = metrics;
  if (tracesUrl === null && metricsUrl === null) return {};
  return {
    settings: {
      tracesUrl,
      metricsUrl,
      headers,
      resource: readResource(env),
      content: config.content,
    },
  };
}

interface Address {
  readonly url?: URL;
  readonly problem?: string;
}

/** Finds the address for one kind of data. The address for all kinds is a base, to which the path of the kind is added. */
function findAddress(env: Environment, config: OtelConfig, kind: 'traces' | 'metrics'): Address {
  if (env[`OTEL_${kind.toUpperCase()}_EXPORTER`] === 'none') return {};
  const ownName = `OTEL_EXPORTER_OTLP_${kind.toUpperCase()}_ENDPOINT`;
  const own = env[ownName]?.trim() ?? '';
  if (own !== '') return parseAddress(ownName, own, null);
  const sharedName = 'OTEL_EXPORTER_OTLP_ENDPOINT';
  const shared = env[sharedName]?.trim() ?? '';
  if (shared !== '') return parseAddress(sharedName, shared, kind);
  return config.endpoint === null ? {} : parseAddress('otel.endpoint', config.endpoint, kind);
}

function parseAddress(name: string, text: string, kind: string | null): Address {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return { problem: `${name} must be an address like http://localhost:4318` };
  }
  if (kind !== null) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/${kind}`;
  return { url };
}

/** Returns the attributes that say which service sends the data. */
export function readResource(env: Environment): Attributes {
  const set = parsePairs(env['OTEL_RESOURCE_ATTRIBUTES'] ?? '') ?? {};
  const service = env['OTEL_SERVICE_NAME']?.trim() ?? '';
  return {
    'service.name': 'muster',
    'service.version': VERSION,
    ...set,
    ...(service === '' ? {} : { 'service.name': service }),
  };
}

/** Parses `name=value,name=value`, with values in percent encoding. Returns null for a text of another form. */
function parsePairs(text: string): Readonly<Record<string, string>> | null {
  const pairs: [string, string][] = [];
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const [, name = '', value = ''] = /^\s*([^\s=]+)\s*=\s*(.*?)\s*$/.exec(part) ?? [];
    if (name === '') return null;
    try {
      pairs.push([name, decodeURIComponent(value)]);
    } catch {
      // A `%` that begins no encoded character: the value is not in the required form.
      return null;
    }
  }
  return Object.fromEntries(pairs);
}
