import { CODECS } from './wire/codecs.ts';
import type { PromptBlock } from './wire/codec.ts';
import type { RecordedRequest } from './wire-request.ts';

/**
 * The prompt of a request as strings. Two strings are equal if and only if the provider's cache treats the parts as equal.
 */
export interface CanonicalPrefix {
  /** The tools, one string for each. */
  readonly tools: readonly string[];
  /** The parts of the system prompt. */
  readonly system: readonly string[];
  /** The parts of messages (Anthropic, Google), the messages (Chat) or the items (Responses). */
  readonly messages: readonly string[];
}

/**
 * Returns the tools, system prompt and messages of a request as they were sent, without cache markers.
 *
 * @example
 * import { canonicalPrefix, type FakeModel } from 'muster-agent/testing';
 *
 * export const toolsOf = ({ requests }: FakeModel): readonly (readonly string[])[] =>
 *   requests.map((request) => canonicalPrefix(request).tools);
 */
export function canonicalPrefix(
  request: Pick<RecordedRequest, 'protocol' | 'body'>,
): CanonicalPrefix {
  const blocks = CODECS[request.protocol].listBlocks(request.body);
  const section = (name: PromptBlock['section']) =>
    blocks.filter((block) => block.section === name).map((block) => block.text);
  return { tools: section('tools'), system: section('system'), messages: section('messages') };
}

/**
 * Asserts that `later` repeats `earlier` unchanged, with at most further messages at the end. Cache markers are
 * ignored. Throws an Error that describes the first difference.
 *
 * @example
 * import { assertAppendOnly, type FakeModel } from 'muster-agent/testing';
 *
 * export function checkFirstTwo({ requests: [first, second] }: FakeModel): void {
 *   if (first !== undefined && second !== undefined) assertAppendOnly(first, second);
 * }
 */
export function assertAppendOnly(
  earlier: Pick<RecordedRequest, 'id' | 'protocol' | 'body'>,
  later: Pick<RecordedRequest, 'id' | 'protocol' | 'body'>,
): void {
  const before = canonicalPrefix(earlier);
  const after = canonicalPrefix(later);
  const requests = `request ${later.id} against request ${earlier.id}`;
  for (const section of ['tools', 'system', 'messages'] as const) {
    assertPrefix(before[section], after[section], `${section} of ${requests}`);
  }
  assertSameCount(before.tools, after.tools, `tools of ${requests}`);
  assertSameCount(before.system, after.system, `system parts of ${requests}`);
}

function assertPrefix(before: readonly string[], after: readonly string[], subject: string): void {
  for (const [index, expected] of before.entries()) {
    const actual = after[index];
    if (actual === undefined)
      throw new Error(`${subject}: number ${index} is missing: ${expected}`);
    if (actual !== expected) {
      throw new Error(
        `${subject}: number ${index} differs ${describeDifference(expected, actual)}`,
      );
    }
  }
}

function assertSameCount(
  before: readonly string[],
  after: readonly string[],
  subject: string,
): void {
  if (before.length === after.length) return;
  throw new Error(`${subject}: ${before.length} became ${after.length}`);
}

/** Describes the first difference between two texts, with the text around the difference. */
function describeDifference(expected: string, actual: string): string {
  let at = 0;
  while (at < expected.length && expected[at] === actual[at]) at += 1;
  const excerpt = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 40), at + 80));
  return `at character ${at}:\n  was ${excerpt(expected)}\n  is  ${excerpt(actual)}`;
}
