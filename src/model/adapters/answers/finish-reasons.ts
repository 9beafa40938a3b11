import { listNames } from '../../../base/text.ts';
import type { FinishReason } from '../../../protocol/model.ts';
import { MalformedAnswerError, ReportedError } from '../errors/answer-errors.ts';
import type { AnswerBuilder } from './answer-builder.ts';

/** The way an answer ended: a finish reason of the model, a full context window, or a fault of the server. */
export type AnswerEnding = FinishReason | 'overflow' | 'malformed';

/**
 * The finish reasons of all protocols and of the servers compatible with them, in lower case.
 * Anthropic: https://docs.claude.com/en/api/handling-stop-reasons
 * Google: https://ai.google.dev/api/generate-content#FinishReason
 * z.ai: https://docs.z.ai/api-reference/llm/chat-completion
 */
const REASONS: readonly (readonly [ending: AnswerEnding, names: string])[] = [
  ['stop', 'stop end end_turn pause_turn eos eos_token stop_sequence complete completed'],
  ['tool_calls', 'tool_calls tool_call tool_use function_call function_calls'],
  // Mistral sends `model_length`.
  ['length', 'length max_tokens max_length max_output_tokens max_completion_tokens model_length'],
  ['content_filter', 'content_filter content_filtered guardrail_intervened refusal language'],
  // z.ai sends `sensitive`.
  ['content_filter', 'sensitive safety image_safety recitation blocklist prohibited_content spii'],
  ['overflow', 'model_context_window_exceeded context_length_exceeded'],
  // DeepSeek sends `insufficient_system_resource`.
  ['malformed', 'insufficient_system_resource unexpected_tool_call too_many_tool_calls'],
  ['malformed', 'missing_thought_signature'],
];
const ENDINGS: ReadonlyMap<string, AnswerEnding> = new Map(
  REASONS.flatMap(([ending, names]) => listNames(names).map((name) => [name, ending] as const)),
);

/** The endings for reasons that are not in `REASONS`, by a part of the name of the reason. The first match counts. */
const ENDINGS_BY_WORD: readonly (readonly [pattern: RegExp, ending: AnswerEnding])[] = [
  [/context_(?:window|length|size)/, 'overflow'],
  [/malformed/, 'malformed'],
  [/safety|content_filter|prohibited/, 'content_filter'],
  [/(?:^|_)(?:error|abort(?:ed)?|timeout|timed_out|cancell?ed|fail(?:ed|ure)?)$/, 'malformed'],
];

/** The maximum number of characters of a finish reason that an error quotes. */
const MAX_REASON_LENGTH = 100;

/** Classifies a finish reason in any spelling. */
export function classifyFinishReason(reason: string): AnswerEnding {
  const name = reason
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
  const known = ENDINGS.get(name);
  if (known !== undefined) return known;
  return ENDINGS_BY_WORD.find(([pattern]) => pattern.test(name))?.[1] ?? 'other';
}

/** Ends the answer with its finish reason. `hasRefused`: true if the text of the answer is a refusal of the model. */
export function finishAnswer(
  answer: AnswerBuilder,
  reason: string,
  { hasRefused = false }: { readonly hasRefused?: boolean } = {},
): void {
  const ending = classifyFinishReason(reason);
  const quoted = reason.slice(0, MAX_REASON_LENGTH);
  switch (ending) {
    case 'overflow':
      return answer.fail(new ReportedError({ code: 'context_length_exceeded', message: quoted }));
    case 'malformed':
      return answer.fail(new MalformedAnswerError(`the answer ended with ${quoted}`));
    case 'stop':
      return answer.finish(hasRefused ? 'content_filter' : 'stop');
    default:
      return answer.finish(ending);
  }
}
