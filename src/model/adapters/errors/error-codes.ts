import { isJsonObject } from '../../../base/json.ts';

/**
 * The HTTP status that a vendor's error code stands for. An error event inside a stream has no status
 * of its own, and only some of them name one.
 */
const STATUS_OF: Readonly<Record<string, number>> = {
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

/** Fields of an error event, the most telling first: a code says more than the type it is of. */
const FIELDS = ['statusCode', 'status', 'code', 'type'];

/** The status of an error event, by its number or its vendor's word; undefined: it says none. */
export function findErrorStatus(event: object): number | undefined {
  const inner: unknown = Reflect.get(event, 'data');
  for (const source of isJsonObject(inner) ? [inner, event] : [event]) {
    for (const field of FIELDS) {
      const status = statusIn(Reflect.get(source, field));
      if (status !== undefined) return status;
    }
  }
  return undefined;
}

function statusIn(value: unknown): number | undefined {
  if (typeof value === 'string' && Object.hasOwn(STATUS_OF, value)) return STATUS_OF[value];
  const status = typeof value === 'string' ? Number(value) : value;
  return typeof status === 'number' && status >= 400 && status < 600 ? status : undefined;
}
