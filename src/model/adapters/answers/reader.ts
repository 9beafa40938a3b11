import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import type { AnswerBuilder } from './answer-builder.ts';

/**
 * Reads the events of one protocol into an answer. It accepts every part that arrives complete, ignores unknown
 * parts, and counts each repair. It never throws because of the data: an error that the server reports is passed to
 * `AnswerBuilder.fail`.
 */
export interface AnswerReader {
  /**
   * True while the event that ends every answer of the protocol is missing. If the connection is closed then, even
   * regularly, the answer is incomplete: a proxy does that when the server behind it fails.
   */
  readonly awaitsEnd: boolean;
  /** Takes an event of the stream. `name`: from the `event:` line before it. */
  takeEvent(event: JsonObject, name: string | null): void;
  /** Takes a complete response that came instead of a stream. Returns false if it is no answer. */
  takeDocument(response: JsonObject): boolean;
}

/** Creates the reader for an answer. */
export type CreateReader = (answer: AnswerBuilder) => AnswerReader;

/** Returns the value if it is a string that is not empty. */
export function asText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Returns the value if it is a finite number. Servers also send numbers as strings. */
export function asNumber(value: JsonValue | undefined): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Returns the value if it is an object. */
export function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** Returns the objects of a list. A single object counts as a list of one. */
export function asObjects(value: JsonValue | undefined): readonly JsonObject[] {
  if (Array.isArray(value)) return value.filter((item) => isJsonObject(item));
  return isJsonObject(value) ? [value] : [];
}
