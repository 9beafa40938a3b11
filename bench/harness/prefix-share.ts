import { byteLength } from '../../src/base/text.ts';
import { canonicalPrefix, type CanonicalPrefix } from '../../src/testing/canonical-prefix.ts';
import type { Exchange } from './model-server.ts';

type Prompted = Pick<Exchange, 'protocol' | 'body'>;

/** How much of `earlier`, in percent of its bytes, the request that follows it in its task begins with. */
export function sharedByNextTurn(earlier: Prompted, later: Prompted): number {
  return sharedPercent(wholeText(canonicalPrefix(earlier)), wholeText(canonicalPrefix(later)));
}

/** The same of two children of one type, up to the last line of the system prompt. */
export function sharedBySiblings(one: Prompted, other: Prompted): number {
  return sharedPercent(commonText(canonicalPrefix(one)), commonText(canonicalPrefix(other)));
}

/** In percent of the bytes of `expected`: how many, from the first on, `actual` has too. */
export function sharedPercent(expected: string, actual: string): number {
  let at = 0;
  while (at < expected.length && expected[at] === actual[at]) at += 1;
  return at === expected.length
    ? 100
    : (100 * byteLength(expected.slice(0, at))) / byteLength(expected);
}

function wholeText({ tools, system, messages }: CanonicalPrefix): string {
  return [...tools, ...system, ...messages].join('\n');
}

function commonText({ tools, system }: CanonicalPrefix): string {
  const text = [...tools, ...system].join('\n');
  return text.slice(0, lastLineStart(text));
}

/** Blocks are JSON: a line of the prompt ends with an escaped newline. */
function lastLineStart(text: string): number {
  return Math.max(text.lastIndexOf(String.raw`\n`), 0);
}
