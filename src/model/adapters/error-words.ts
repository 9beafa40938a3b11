import { isJsonObject } from '../../base/json.ts';

/** Fields in which the known servers say in words what is wrong. */
const FIELDS = [
  'error',
  'message',
  'code',
  'type',
  'status',
  'reason',
  'error_code',
  'detail',
  'msg',
  'response',
  'metadata',
  'raw',
];
const MOST_DEPTH = 8;
const MOST_CHARACTERS = 4_000;

/**
 * Returns all words by which an error body says what is wrong, its codes included. Whatever else the body
 * holds is left out: some servers send the refused request back, in which anything may stand.
 */
export function errorWords(body: string): string {
  const words: string[] = [];
  collect(parsed(body), words, 0);
  return words.join(' ').slice(0, MOST_CHARACTERS);
}

function collect(value: unknown, words: string[], depth: number): void {
  if (depth > MOST_DEPTH) return;
  if (typeof value === 'string') {
    // Gateways pass on the error of the server behind them as a text.
    const inner = /^\s*[{[]/.test(value) ? parsed(value) : value;
    if (typeof inner === 'string') words.push(inner);
    else collect(inner, words, depth + 1);
  } else if (Array.isArray(value)) {
    for (const one of value.slice(0, MOST_DEPTH)) collect(one, words, depth + 1);
  } else if (isJsonObject(value)) {
    for (const field of FIELDS) collect(value[field], words, depth + 1);
  }
}

/** The value of a JSON text; any other text as it is. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Plain text says what is wrong by itself.
    return text;
  }
}
