import { CODECS } from './wire/codecs.ts';
import type { PromptBlock } from './wire/codec.ts';
import type { RecordedRequest } from './wire-request.ts';

/**
 * The prompt of a request as strings. Two strings are equal exactly if the provider's cache treats the parts as
 * equal.
 */
export interface CanonicalPrefix {
  readonly tools: readonly string[];
  /** The parts of the system prompt. */
  readonly system: readonly string[];
  /** The parts of messages (Anthropic, Google), the messages (Chat) or the items (Responses). */
  readonly messages: readonly string[];
}

/** Returns the tools, system prompt and messages of a request as they were sent, without cache markers. */
export function canonicalPrefix(
  request: Pick<RecordedRequest, 'protocol' | 'body'>,
): CanonicalPrefix {
  const blocks = CODECS[request.protocol].blocks(request.body);
  const section = (name: PromptBlock['section']) =>
    blocks.filter((block) => block.section === name).map((block) => block.text);
  return { tools: section('tools'), system: section('system'), messages: section('messages') };
}

type Comparable = Pick<RecordedRequest, 'id' | 'protocol' | 'body'>;

/**
 * Asserts that `later` repeats `earlier` unchanged, with at most further messages at the end. Cache markers are
 * ignored. Throws an Error that shows the first difference.
 */
export function assertAppendOnly(earlier: Comparable, later: Comparable): void {
  const before = canonicalPrefix(earlier);
  const after = canonicalPrefix(later);
  const names = `request ${later.id} against request ${earlier.id}`;
  for (const section of ['tools', 'system', 'messages'] as const) {
    assertPrefix(before[section], after[section], `${section} of ${names}`);
  }
  assertSameCount(before.tools, after.tools, `tools of ${names}`);
  assertSameCount(before.system, after.system, `system parts of ${names}`);
}

function assertPrefix(before: readonly string[], after: readonly string[], what: string): void {
  for (const [index, expected] of before.entries()) {
    const actual = after[index];
    if (actual === undefined) throw new Error(`${what}: number ${index} is missing: ${expected}`);
    if (actual !== expected) {
      throw new Error(`${what}: number ${index} differs ${difference(expected, actual)}`);
    }
  }
}

function assertSameCount(before: readonly string[], after: readonly string[], what: string): void {
  if (before.length === after.length) return;
  throw new Error(`${what}: ${before.length} became ${after.length}`);
}

/** Describes the first difference between two texts, with a few characters around it. */
function difference(expected: string, actual: string): string {
  let at = 0;
  while (at < expected.length && expected[at] === actual[at]) at += 1;
  const around = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 40), at + 80));
  return `at character ${at}:\n  was ${around(expected)}\n  is  ${around(actual)}`;
}
