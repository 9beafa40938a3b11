import { formatDuration, plural } from '../../base/text.ts';
import { fail, ok, warn, type Check } from '../../protocol/check.ts';
import { messageText, userMessage } from '../../protocol/message.ts';
import type { Effort } from '../../protocol/model.ts';
import { REPAIRS, type Repair } from '../../protocol/repair.ts';
import type { LearnedSettings } from '../adapters/adapter.ts';
import type { ProtocolName } from '../settings/presets.ts';
import { describeFailure } from './describe-failure.ts';
import {
  MAX_PROBE_OUTPUT,
  quoteServerText,
  type ProbeAnswer,
  type ProbeRequest,
} from './probe-client.ts';

/** Asks for an answer that comes in several pieces and stays below the output limit. */
export const SHORT_ANSWER: ProbeRequest = {
  messages: [userMessage('Count from one to ten in English words, separated by commas.')],
};

/** The names of the protocols for people. */
export const PROTOCOL_TITLES: Readonly<Record<ProtocolName, string>> = {
  'openai-chat': 'Chat Completions',
  'openai-responses': 'Responses',
  anthropic: 'Anthropic Messages',
  'bedrock-converse': 'Bedrock Converse',
  google: 'Gemini',
};

/** Returns true if the whole answer went into thoughts, so that nothing can be said about its content. */
export function isOnlyThought({ end, hasThought }: ProbeAnswer): boolean {
  if (end.type === 'failed' || end.reason !== 'length') return false;
  const hasContent = end.message.content.some(
    (part) => part.type === 'tool_call' || (part.type === 'text' && part.text.trim() !== ''),
  );
  return !hasContent && (hasThought || end.usage.output > 0);
}

/** Describes an answer in which the model thought until the limit. */
export function describeOnlyThought(name: string): Check {
  return warn(
    name,
    `not tested: the model used all ${MAX_PROBE_OUTPUT} tokens to think`,
    'choose a model that thinks less, or switch its thinking off at the server, and probe again',
  );
}

/** The time in milliseconds from which on a person notices that nothing is shown. */
const NOTICEABLE_MS = 500;

/** Judges whether an answer comes piece by piece. */
export function judgeStream(answer: ProbeAnswer): Check {
  const name = 'streaming';
  const { end, textPieces, firstMs, totalMs, wire } = answer;
  if (end.type === 'failed') return describeFailure(name, end.failure);
  if (isOnlyThought(answer)) return describeOnlyThought(name);
  if (messageText(end.message).trim() === '') {
    return fail(name, 'the answer has no text', 'choose another model with --model ID');
  }
  const time = `the first after ${formatDuration(firstMs ?? totalMs)}, all after ${formatDuration(totalMs)}`;
  if (end.repairs?.json_instead_of_stream !== undefined) {
    return warn(
      name,
      `no stream: the whole answer came as one document after ${formatDuration(totalMs)}`,
      'switch streaming on at the server; until then, answers appear only when they are complete',
    );
  }
  if (textPieces < 2 || (wire.pieces < 2 && totalMs > NOTICEABLE_MS)) {
    return warn(
      name,
      `${plural(textPieces, 'piece')} of text came at once after ${formatDuration(totalMs)}`,
      'if a proxy is between, switch its buffering off (nginx: proxy_buffering off)',
    );
  }
  return ok(name, `${plural(textPieces, 'piece')} of text, ${time}`);
}

/** The fields in which servers report cached tokens. */
const CACHE_FIELDS =
  /"(?:cached_tokens|prompt_cache_hit_tokens|cache_read_input_tokens|cachedContentTokenCount)"/;
const USAGE_FIELDS = /"(?:usage|usageMetadata)":\s*\{/g;

/** Judges whether an answer says how many tokens it used. */
export function judgeUsage({ end, wire }: ProbeAnswer, { omit }: LearnedSettings): Check {
  const name = 'usage';
  if (end.type === 'failed') return describeFailure(name, end.failure);
  if (end.usageMissing !== undefined) {
    const missing =
      end.usageMissing === 'all' ? 'not reported' : `${end.usageMissing} tokens are not reported`;
    const refused = omit.includes('stream_options') ? ' (the server refuses stream_options)' : '';
    return warn(
      name,
      `${missing}${refused}: budgets and costs count estimates`,
      'switch the report of usage on at the server',
    );
  }
  const { input, output, cacheRead, cacheWrite } = end.usage;
  const count = wire.received.match(USAGE_FIELDS)?.length ?? 0;
  const place = count > 2 ? 'with every piece' : 'at the end of the stream';
  const cache = CACHE_FIELDS.test(wire.received)
    ? 'cached tokens are reported'
    : 'cached tokens are not reported';
  return ok(
    name,
    `${input + cacheRead + cacheWrite} tokens in and ${output} out, ${place}; ${cache}`,
  );
}

/** Describes the thinking of a model. `wanted`: the effort that was asked for; null: none was. */
export function describeThinking(
  answers: readonly ProbeAnswer[],
  wanted: Effort | null,
  { efforts }: LearnedSettings,
): Check | null {
  if (wanted === null || !answers.some(({ hasThought }) => hasThought)) return null;
  const accepted = efforts.has(wanted) ? efforts.get(wanted) : wanted;
  return ok(
    'thinking',
    accepted === null
      ? 'the model thinks before it answers, and the server accepts no effort'
      : `the model thinks before it answers; the server accepts the effort "${accepted}"`,
  );
}

/** The names of the output limit in the requests of all protocols. */
const LIMIT_FIELD = /"(max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens)":/;
/** The number of tokens by which the count of a server may exceed the limit. */
const LIMIT_TOLERANCE = 8;

/** Judges whether the server keeps to the output limit of the requests. */
export function judgeOutputLimit(
  answers: readonly ProbeAnswer[],
  { outputCap }: LearnedSettings,
): Check {
  const name = 'output limit';
  const sent = answers.findLast(({ wire }) => wire.sent !== '')?.wire.sent ?? '';
  const field = LIMIT_FIELD.exec(sent)?.[1];
  if (field === undefined) {
    return warn(
      name,
      'the server refuses a limit under every name, so only the model ends an answer',
      null,
    );
  }
  const longest = Math.max(...answers.map(({ end }) => end.usage?.output ?? 0));
  const size = longest === 0 ? '' : `; the longest answer had ${plural(longest, 'token')}`;
  if (longest > MAX_PROBE_OUTPUT + LIMIT_TOLERANCE) {
    return warn(
      name,
      `${field} is accepted and ignored: an answer had ${longest} tokens instead of at most ${MAX_PROBE_OUTPUT}`,
      'set a limit at the server',
    );
  }
  const cap = outputCap === null ? '' : `; the highest limit is ${outputCap}`;
  return ok(name, `${field} is accepted${size}${cap}`);
}

/** Lists the parts that requests have to omit; null: there are none. */
export function describeOmissions({ omit }: LearnedSettings): Check | null {
  if (omit.length === 0) return null;
  const detail = `requests are sent without what the server refuses: ${omit.join(', ')}`;
  return ok('adjustments', detail);
}

/** The repairs that other checks report. */
const REPORTED_ELSEWHERE: ReadonlySet<string> = new Set<Repair>([
  'json_instead_of_stream',
  'missing_usage',
  'partial_usage',
]);

/** Lists the deviations from the protocol that Muster has repaired; null: there were none. */
export function describeRepairs(answers: readonly ProbeAnswer[]): Check | null {
  const kinds = new Set(answers.flatMap(({ end }) => Object.keys(end.repairs ?? {})));
  const texts = Object.entries(REPAIRS).flatMap(([kind, text]) =>
    kinds.has(kind) && !REPORTED_ELSEWHERE.has(kind) ? [text] : [],
  );
  if (texts.length === 0) return null;
  return ok('deviations', `Muster repairs them: ${texts.join('; ')}`);
}

/** Quotes the text of an answer for a check. */
export function quoteAnswer({ end }: ProbeAnswer): string {
  return end.type === 'failed' ? '' : `"${quoteServerText(messageText(end.message))}"`;
}
