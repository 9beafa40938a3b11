import type { JsonObject } from '../../../base/json.ts';
import type { FinishReason } from '../../../protocol/model.ts';
import { MalformedAnswer, ReportedError } from '../answer-errors.ts';

/**
 * The finish reasons of all protocols in lower case. Gateways translate between protocols and pass on the
 * reasons of the other one, so the readers share one table.
 * https://docs.claude.com/en/api/handling-stop-reasons, https://ai.google.dev/api/generate-content#FinishReason
 */
const REASONS: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ...(
    [
      'stop',
      'end_turn',
      'eos',
      'eos_token',
      'complete',
      'completed',
      'stop_sequence',
      'pause_turn',
    ] as const
  ).map((name) => [name, 'stop'] as const),
  ...(['tool_calls', 'tool_call', 'tool_use', 'function_call'] as const).map(
    (name) => [name, 'tool_calls'] as const,
  ),
  // model_length: Mistral
  ...(
    ['length', 'max_tokens', 'max_output_tokens', 'max_completion_tokens', 'model_length'] as const
  ).map((name) => [name, 'length'] as const),
  // sensitive: z.ai; guardrail_intervened: Bedrock
  ...(
    [
      'content_filter',
      'refusal',
      'sensitive',
      'guardrail_intervened',
      'safety',
      'image_safety',
      'recitation',
      'blocklist',
      'prohibited_content',
      'spii',
      'language',
    ] as const
  ).map((name) => [name, 'content_filter'] as const),
]);

/**
 * Reasons that mean that the answer is not whole. z.ai: network_error, DeepSeek: insufficient_system_resource,
 * SGLang: abort, Google: MALFORMED_FUNCTION_CALL and others.
 */
const FAILED =
  /malformed|abort|cancel|time_?out|^error$|_error$|insufficient|unexpected_tool_call|too_many_tool_calls|missing_thought_signature/;
const OVERFLOW = /^(?:model_)?context_(?:window|length)_exceeded$/;

/** The meaning of a finish reason: how the answer ended, or the error that it stands for. */
export type ReadReason =
  | { readonly reason: FinishReason }
  | { readonly error: MalformedAnswer | ReportedError };

/** Reads the finish reason of any protocol, whatever its letter case. An unknown one is `other`. */
export function readFinishReason(sent: string): ReadReason {
  const name = sent.trim().toLowerCase();
  const reason = REASONS.get(name);
  if (reason !== undefined) return { reason };
  if (OVERFLOW.test(name)) {
    const error: JsonObject = { code: 'context_length_exceeded', message: name };
    return { error: new ReportedError(error) };
  }
  if (FAILED.test(name)) return { error: new MalformedAnswer(`the answer ended with ${sent}`) };
  return { reason: 'other' };
}
