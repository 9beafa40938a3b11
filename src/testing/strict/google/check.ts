import type { JsonObject } from '../../../base/json.ts';
import { googleError } from '../../wire/google-answer.ts';
import { applyRules, type StrictRule, type Violation } from '../rule.ts';
import { CONTENT_RULES } from './contents.ts';
import { FUNCTION_RULES } from './functions.ts';
import { PARAMETER_RULES } from './parameters.ts';
import { readGoogle, type GoogleRequest } from './request.ts';

export const GOOGLE_RULES: readonly StrictRule<GoogleRequest>[] = [
  ...PARAMETER_RULES,
  ...CONTENT_RULES,
  ...FUNCTION_RULES,
];

/** Checks a body as generateContent does, for the model that stands in the path of the request. */
export function checkGoogle(body: JsonObject, model: string): readonly Violation[] {
  return applyRules(GOOGLE_RULES, readGoogle(body, model), ({ status, message }) =>
    googleError(status, message),
  );
}
