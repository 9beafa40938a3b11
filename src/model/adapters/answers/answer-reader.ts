import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import type { AnswerBuilder } from './answer-builder.ts';

/**
 * Reads the events of one protocol into an answer. It accepts every part that arrives complete, ignores
 * what it does not know, and counts each repair. It never throws for what a server sends: an error that
 * the server reports goes to `AnswerBuilder.fail`.
 */
export interface AnswerReader {
  /**
   * Whether an event that ends every answer of the protocol is still to come. If the connection is closed then,
   * even in order, the answer broke off: a proxy does that when the server behind it fails.
   */
  readonly awaitsEnd: boolean;
  /** Takes an event of the stream. `name`: from the `event:` line before it. */
  takeEvent(event: JsonObject, name: string | null): void;
  /** Takes a complete response that came in place of a stream. Returns false if it is no answer. */
  takeDocument(response: JsonObject): boolean;
}

export type CreateReader = (answer: AnswerBuilder) => AnswerReader;

/** The value if it is a string with something in it. */
export function asText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The value if it is a finite number; servers also send numbers as strings. */
export function asNumber(value: JsonValue | undefined): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

export function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** The objects of a list; a single object counts as a list of one. */
export function asObjects(value: JsonValue | undefined): readonly JsonObject[] {
  if (Array.isArray(value)) return value.filter((item) => isJsonObject(item));
  return isJsonObject(value) ? [value] : [];
}
