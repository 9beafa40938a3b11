import { byteLength } from '../../src/base/text.ts';
import { canonicalPrefix, type CanonicalPrefix } from '../../src/testing/canonical-prefix.ts';
import type { Exchange } from './model-server.ts';

type Prompted = Pick<Exchange, 'protocol' | 'body'>;

/** The share of a request, in percent of its bytes, that the next request of the same task begins with. */
export function sharedByNextTurn(earlier: Prompted, later: Prompted): number {
  return sharedPercent(fullText(canonicalPrefix(earlier)), fullText(canonicalPrefix(later)));
}

/** The same for two children of one agent type, up to the last line of the system prompt. */
export function sharedBySiblings(one: Prompted, other: Prompted): number {
  return sharedPercent(commonText(canonicalPrefix(one)), commonText(canonicalPrefix(other)));
}

/** The length of the common beginning of both texts, in percent of the bytes of `expected`. */
export function sharedPercent(expected: string, actual: string): number {
  let at = 0;
  while (at < expected.length && expected[at] === actual[at]) at += 1;
  return at === expected.length
    ? 100
    : (100 * byteLength(expected.slice(0, at))) / byteLength(expected);
}

function fullText({ tools, system, messages }: CanonicalPrefix): string {
  return [...tools, ...system, ...messages].join('\n');
}

function commonText({ tools, system }: CanonicalPrefix): string {
  const text = [...tools, ...system].join('\n');
  return text.slice(0, lastLineStart(text));
}

/** The blocks are JSON, so a line of the prompt ends with an escaped newline. */
function lastLineStart(text: string): number {
  return Math.max(text.lastIndexOf(String.raw`\n`), 0);
}
