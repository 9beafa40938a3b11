import type { JsonObject } from '../../../base/json.ts';
import { openaiRefusal } from '../openai-refusal.ts';
import type { ChatServer, StrictOptions } from '../options.ts';
import { applyRules, type StrictRule, type Violation } from '../rule.ts';
import { CONTENT_RULES } from './content.ts';
import { PARAMETER_RULES } from './parameters.ts';
import { readChat, type ChatRequest } from './request.ts';
import { CALL_RULES } from './tool-calls.ts';
import { DEEPSEEK_RULES, MISTRAL_RULES } from './vendors.ts';

export const CHAT_RULES: readonly StrictRule<ChatRequest>[] = [
  ...PARAMETER_RULES,
  ...CONTENT_RULES,
  ...CALL_RULES,
];

/** The rules that a server has beside those of all. */
export const CHAT_SERVER_RULES: Readonly<Record<ChatServer, readonly StrictRule<ChatRequest>[]>> = {
  openai: [],
  compatible: [],
  mistral: MISTRAL_RULES,
  deepseek: DEEPSEEK_RULES,
};

/** Checks a body as a server with the Chat Completions protocol does. */
export function checkChat(body: JsonObject, options: StrictOptions = {}): readonly Violation[] {
  const { chatServer = 'compatible' } = options;
  const rules = [...CHAT_RULES, ...CHAT_SERVER_RULES[chatServer]];
  return applyRules(rules, readChat(body, options), openaiRefusal);
}
