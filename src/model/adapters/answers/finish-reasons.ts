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
const ENDINGS: ReadonlyMap<string, AnswerEnding> = new Map<string, AnswerEnding>([
  ['stop', 'stop'],
  ['end', 'stop'],
  ['end_turn', 'stop'],
  ['pause_turn', 'stop'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['stop_sequence', 'stop'],
  ['complete', 'stop'],
  ['completed', 'stop'],
  ['tool_calls', 'tool_calls'],
  ['tool_call', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['function_calls', 'tool_calls'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['max_length', 'length'],
  ['max_output_tokens', 'length'],
  ['max_completion_tokens', 'length'],
  // Mistral
  ['model_length', 'length'],
  ['content_filter', 'content_filter'],
  ['content_filtered', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  ['refusal', 'content_filter'],
  // z.ai
  ['sensitive', 'content_filter'],
  ['safety', 'content_filter'],
  ['image_safety', 'content_filter'],
  ['recitation', 'content_filter'],
  ['blocklist', 'content_filter'],
  ['prohibited_content', 'content_filter'],
  ['spii', 'content_filter'],
  ['language', 'content_filter'],
  ['model_context_window_exceeded', 'overflow'],
  ['context_length_exceeded', 'overflow'],
  // DeepSeek
  ['insufficient_system_resource', 'malformed'],
  ['unexpected_tool_call', 'malformed'],
  ['too_many_tool_calls', 'malformed'],
  ['missing_thought_signature', 'malformed'],
]);

/** The endings of reasons that are not in the table, by a part of their name. The first match counts. */
const ENDINGS_BY_WORD: readonly (readonly [pattern: RegExp, ending: AnswerEnding])[] = [
  [/context_(?:window|length|size)/, 'overflow'],
  [/malformed/, 'malformed'],
  [/safety|content_filter|prohibited/, 'content_filter'],
  [/(?:^|_)(?:error|abort(?:ed)?|timeout|timed_out|cancell?ed|fail(?:ed|ure)?)$/, 'malformed'],
];

/** The most characters of a finish reason that an error shows. */
const MAX_SHOWN = 100;

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

/** Ends the answer with its finish reason. `hasRefused`: true if the model refused in its text. */
export function finishAnswer(
  answer: AnswerBuilder,
  reason: string,
  { hasRefused = false }: { readonly hasRefused?: boolean } = {},
): void {
  const ending = classifyFinishReason(reason);
  const shown = reason.slice(0, MAX_SHOWN);
  switch (ending) {
    case 'overflow':
      return answer.fail(new ReportedError({ code: 'context_length_exceeded', message: shown }));
    case 'malformed':
      return answer.fail(new MalformedAnswerError(`the answer ended with ${shown}`));
    case 'stop':
      return answer.finish(hasRefused ? 'content_filter' : 'stop');
    default:
      return answer.finish(ending);
  }
}
