import type { IncomingHttpHeaders } from 'node:http';

/** The request headers that never hold a secret. The values of all others are removed from what is recorded. */
const HARMLESS_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'anthropic-beta',
  'anthropic-version',
  'connection',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
  'user-agent',
]);

/** The parameters of a query that never hold a secret. */
const HARMLESS_PARAMETERS = new Set(['alt', 'limit', 'after_id', 'pageSize', 'pageToken']);

/** Values that are shorter are common words such as `true`, and no keys. */
const MIN_SECRET_LENGTH = 6;

/**
 * Returns the values in a request that may be secrets, such as API keys, the longest first: those of all headers and parameters
 * of the query that are not known to be harmless.
 */
export function findSentSecrets(headers: IncomingHttpHeaders, url: string): readonly string[] {
  const values = Object.entries(headers).flatMap(([name, value = []]) =>
    HARMLESS_HEADERS.has(name) ? [] : [value].flat(),
  );
  const query = new URLSearchParams(url.split('?')[1] ?? '');
  for (const [name, value] of query) if (!HARMLESS_PARAMETERS.has(name)) values.push(value);
  // A scheme such as `Bearer` stands before the key.
  const all = values.concat(values.flatMap((value) => value.split(/[\s,;=]+/)));
  const secrets = all.filter(({ length }) => length >= MIN_SECRET_LENGTH);
  return [...new Set(secrets)].toSorted((a, b) => b.length - a.length);
}

/** Removes secrets from all texts in a value, also where JSON or a URL writes them in another way. Names of fields stay. */
export function removeSecrets<Value>(value: Value, secrets: readonly string[]): Value {
  const forms = new Set(
    secrets.flatMap((secret) => [
      secret,
      JSON.stringify(secret).slice(1, -1),
      encodeURIComponent(secret),
    ]),
  );
  return JSON.parse(
    JSON.stringify(value, (_name, field: unknown) => {
      if (typeof field !== 'string') return field;
      let cleaned = field;
      for (const form of forms) cleaned = cleaned.replaceAll(form, '[removed]');
      return cleaned;
    }),
  );
}
