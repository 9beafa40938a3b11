import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/base/version.ts';
import { readExportSettings } from '../../src/telemetry/export-settings.ts';

const NO_CONFIG = { endpoint: null, headersEnv: null, content: false };
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };

function addresses(env: Readonly<Record<string, string>>, endpoint: string | null = null) {
  const { settings } = readExportSettings(env, { ...NO_CONFIG, endpoint });
  return settings && [settings.tracesUrl?.href ?? null, settings.metricsUrl?.href ?? null];
}

describe('the settings of an export', () => {
  it.each([
    [{}, null, undefined],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, null, undefined],
    [ENDPOINT, null, ['http://collector:4318/v1/traces', 'http://collector:4318/v1/metrics']],
    [{}, 'https://a/b', ['https://a/b/v1/traces', 'https://a/b/v1/metrics']],
    [
      ENDPOINT,
      'https://a/b',
      ['http://collector:4318/v1/traces', 'http://collector:4318/v1/metrics'],
    ],
    [
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://t/x' },
      'http://a',
      ['http://t/x', 'http://a/v1/metrics'],
    ],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://m/x' }, null, [null, 'http://m/x']],
    [
      { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' },
      null,
      [null, 'http://collector:4318/v1/metrics'],
    ],
    [{ ...ENDPOINT, OTEL_METRICS_EXPORTER: 'none', OTEL_TRACES_EXPORTER: 'none' }, null, undefined],
  ])('%j with the endpoint %j name the addresses %j', (env, endpoint, expected) => {
    expect(addresses(env, endpoint)).toEqual(expected);
  });

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /^OTEL_EXPORTER_OTLP_ENDPOINT must be/],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'file:///etc' }, /^OTEL_EXPORTER_OTLP_ENDPOINT must be/],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '/v1' }, /^OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be/],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /Muster sends OTLP over HTTP/],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'no value' }, /^OTEL_EXPORTER_OTLP_HEADERS must/],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS: 'a=%E0%A4%A' }, /^OTEL_EXPORTER_OTLP_HEADERS must/],
  ])('%j have a problem', (env, problem) => {
    const result = readExportSettings(env, NO_CONFIG);
    expect(result).toEqual({ problem: expect.stringMatching(problem) });
  });

  it('contain headers and the resource', () => {
    const env = {
      ...ENDPOINT,
      MY_HEADERS: 'a=b%2Cc, d = e',
      OTEL_SERVICE_NAME: 'robot',
      OTEL_RESOURCE_ATTRIBUTES: 'team=one,service.name=other',
    };
    const { settings } = readExportSettings(env, { ...NO_CONFIG, headersEnv: 'MY_HEADERS' });
    expect([settings?.headers, settings?.resource]).toEqual([
      { a: 'b,c', d: 'e' },
      { 'service.name': 'robot', 'service.version': VERSION, team: 'one' },
    ]);
  });
});
