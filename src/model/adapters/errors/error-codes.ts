import { isJsonObject } from '../../../base/json.ts';

/**
 * The HTTP statuses of the vendors' error codes. An error event inside a stream has no HTTP status, and only
 * some events name one.
 */
const STATUSES: Readonly<Record<string, number>> = {
  // Anthropic: https://docs.claude.com/en/api/errors
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
  // OpenAI, and the servers compatible with it: https://platform.openai.com/docs/guides/error-codes
  invalid_prompt: 400,
  invalid_api_key: 401,
  insufficient_quota: 402,
  model_not_found: 404,
  context_length_exceeded: 413,
  rate_limit_exceeded: 429,
  server_error: 500,
  server_is_overloaded: 503,
  slow_down: 503,
  // Google: https://google.aip.dev/193
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ABORTED: 409,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DEADLINE_EXCEEDED: 504,
};

/** The fields of an error event with a status or a code, the most specific first. */
const CODE_FIELDS = ['statusCode', 'status', 'code', 'type'];

/** Finds the HTTP status of an error event by its number or its vendor's code; undefined: it has none. */
export function findErrorStatus(event: object): number | undefined {
  const inner: unknown = Reflect.get(event, 'data');
  for (const source of isJsonObject(inner) ? [inner, event] : [event]) {
    for (const field of CODE_FIELDS) {
      const status = toStatus(Reflect.get(source, field));
      if (status !== undefined) return status;
    }
  }
  return undefined;
}

function toStatus(value: unknown): number | undefined {
  if (typeof value === 'string' && Object.hasOwn(STATUSES, value)) return STATUSES[value];
  const status = typeof value === 'string' ? Number(value) : value;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : undefined;
}
