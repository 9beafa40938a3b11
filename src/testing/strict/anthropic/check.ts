import type { JsonObject } from '../../../base/json.ts';
import { anthropicError } from '../../wire/anthropic-answer.ts';
import { applyRules, type StrictRule, type Violation } from '../rule.ts';
import { CONTENT_RULES } from './content.ts';
import { PARAMETER_RULES, THINKING_PARAMETER_RULES } from './parameters.ts';
import { readAnthropic, type AnthropicRequest } from './request.ts';
import { THINKING_RULES } from './thinking.ts';
import { TOOL_CALL_RULES } from './tool-calls.ts';

export const ANTHROPIC_RULES: readonly StrictRule<AnthropicRequest>[] = [
  ...PARAMETER_RULES,
  ...THINKING_PARAMETER_RULES,
  ...CONTENT_RULES,
  ...TOOL_CALL_RULES,
  ...THINKING_RULES,
];

/** Checks a body as the Messages API does. */
export function checkAnthropic(body: JsonObject): readonly Violation[] {
  return applyRules(ANTHROPIC_RULES, readAnthropic(body), ({ status, message }) =>
    anthropicError(status, message),
  );
}
