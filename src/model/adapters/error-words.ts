import { errorFields, parseJsonOrText, type ErrorFieldKind } from './error-fields.ts';

const MOST_DEPTH = 8;
const MOST_CHARACTERS = 4_000;

/**
 * Returns all words by which an error body says what is wrong, its codes and the names of refused parts
 * included. Whatever else the body holds is left out: some servers send the refused request back, in which
 * anything may stand.
 */
export function errorWords(body: string): string {
  const words: string[] = [];
  collect(parseJsonOrText(body), words, { depth: 0, kind: 'message' });
  return words.join(' ').slice(0, MOST_CHARACTERS);
}

interface Position {
  readonly depth: number;
  /** The kind of the field in which the value stands. */
  readonly kind: ErrorFieldKind;
}

function collect(value: unknown, words: string[], { depth, kind }: Position): void {
  if (depth > MOST_DEPTH) return;
  if (kind === 'code' && isNumericCode(value)) {
    // Marked, since a number of a message means something else.
    words.push(`code: ${value}`);
  } else if (typeof value === 'string') {
    // Gateways pass on the error of the server behind them as a text.
    const inner = /^\s*[{[]/.test(value) ? parseJsonOrText(value) : value;
    if (typeof inner === 'string') words.push(inner);
    else collect(inner, words, { depth: depth + 1, kind });
  } else if (Array.isArray(value)) {
    for (const one of value.slice(0, MOST_DEPTH)) collect(one, words, { depth: depth + 1, kind });
  } else {
    for (const field of errorFields(value)) {
      collect(field.value, words, { depth: depth + 1, kind: field.kind });
    }
  }
}

function isNumericCode(value: unknown): value is string | number {
  return typeof value === 'number' || (typeof value === 'string' && /^\d{1,10}$/.test(value));
}
