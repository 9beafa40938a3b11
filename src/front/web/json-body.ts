import { errorMessage, MusterError } from '../../base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';

/** The maximum size of the body of a request. */
const MAX_BODY_BYTES = 1024 * 1024;

/** Reads the JSON object in the body of a request. Throws MusterError for anything else, and for a body over the limit. */
export async function readJsonBody(request: Request): Promise<JsonObject> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) {
      throw new MusterError(
        'LIMIT_EXCEEDED',
        `the body of the request has more than ${MAX_BODY_BYTES} bytes, which is the limit`,
      );
    }
    chunks.push(chunk);
  }
  const value = parse(Buffer.concat(chunks).toString('utf8'));
  if (isJsonObject(value)) return value;
  throw invalid('the body of the request must be a JSON object');
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (thrown) {
    throw invalid(`the body of the request is not JSON: ${errorMessage(thrown)}`);
  }
}

/** Returns the text in a field; null if the field is missing. Throws `INVALID_PARAM` for a value that is no text. */
export function readTextField(body: JsonObject, name: string): string | null {
  const value = body[name];
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') return value;
  throw invalid(`the field ${name} must be a text`);
}

/** Returns the text in a field. Throws `INVALID_PARAM` if it is missing or empty. */
export function requireTextField(body: JsonObject, name: string): string {
  const text = readTextField(body, name);
  if (text !== null && text.trim() !== '') return text;
  throw invalid(`the field ${name} is missing or empty`);
}

function invalid(message: string): MusterError {
  return new MusterError('INVALID_PARAM', message);
}
