import type { JsonObject } from '../../../base/json.ts';
import { openaiRefusal } from '../openai-refusal.ts';
import type { StrictOptions } from '../options.ts';
import { applyRules, type StrictRule, type Violation } from '../rule.ts';
import { ITEM_RULES } from './items.ts';
import { ORDER_RULES } from './order.ts';
import { PARAMETER_RULES } from './parameters.ts';
import { readResponses, type ResponsesRequest } from './request.ts';

export const RESPONSES_RULES: readonly StrictRule<ResponsesRequest>[] = [
  ...PARAMETER_RULES,
  ...ITEM_RULES,
  ...ORDER_RULES,
];

/** Checks a body as OpenAI's Responses API does. */
export function checkResponses(
  body: JsonObject,
  options: StrictOptions = {},
): readonly Violation[] {
  return applyRules(RESPONSES_RULES, readResponses(body, options), openaiRefusal);
}
