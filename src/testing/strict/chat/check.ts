import type { JsonObject } from '../../../base/json.ts';
import { openaiRefusal } from '../openai-refusal.ts';
import type { StrictOptions } from '../options.ts';
import { applyRules, type StrictRule, type Violation } from '../rule.ts';
import { CONTENT_RULES } from './content.ts';
import { PARAMETER_RULES } from './parameters.ts';
import { readChat, type ChatRequest } from './request.ts';
import { CHAT_SERVER_RULES } from './servers.ts';
import { CALL_RULES } from './tool-calls.ts';

export const CHAT_RULES: readonly StrictRule<ChatRequest>[] = [
  ...PARAMETER_RULES,
  ...CONTENT_RULES,
  ...CALL_RULES,
];

/** Checks a body as a server with the Chat Completions protocol does. */
export function checkChat(body: JsonObject, options: StrictOptions = {}): readonly Violation[] {
  const { chatServer = 'compatible' } = options;
  const rules = [...CHAT_RULES, ...CHAT_SERVER_RULES[chatServer]];
  return applyRules(rules, readChat(body, options), openaiRefusal);
}
