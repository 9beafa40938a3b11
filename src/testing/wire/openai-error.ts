import type { JsonObject } from '../../base/json.ts';

/** The body of an HTTP error, alike for Responses and Chat Completions. */
export function openaiError(status: number, message: string): JsonObject {
  return { error: { message, type: errorType(status), param: null, code: errorCode(status) } };
}

function errorType(status: number): string {
  if (status === 401) return 'authentication_error';
  if (status === 429) return 'rate_limit_error';
  return status < 500 ? 'invalid_request_error' : 'server_error';
}

function errorCode(status: number): string | null {
  if (status === 401) return 'invalid_api_key';
  if (status === 404) return 'model_not_found';
  if (status === 429) return 'rate_limit_exceeded';
  return null;
}
