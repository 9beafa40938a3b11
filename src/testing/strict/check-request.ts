import type { JsonObject } from '../../base/json.ts';
import type { WireProtocol } from '../wire-request.ts';
import type { StrictOptions } from './options.ts';
import { type Violation, applyRules, type StrictRule } from './rule.ts';
import { createAnthropicError } from '../wire/anthropic-answer.ts';
import { ANTHROPIC_CONTENT_RULES } from './anthropic/content.ts';
import {
  ANTHROPIC_PARAMETER_RULES,
  ANTHROPIC_THINKING_PARAMETER_RULES,
} from './anthropic/parameters.ts';
import { readAnthropic, type AnthropicRequest } from './anthropic/request.ts';
import { ANTHROPIC_THINKING_RULES } from './anthropic/thinking.ts';
import { ANTHROPIC_TOOL_CALL_RULES } from './anthropic/tool-calls.ts';
import { createOpenaiRefusal } from './openai-refusal.ts';
import { CHAT_CONTENT_RULES } from './chat/content.ts';
import { CHAT_PARAMETER_RULES } from './chat/parameters.ts';
import { readChat, type ChatRequest } from './chat/request.ts';
import { CHAT_SERVER_RULES } from './chat/vendors.ts';
import { CHAT_CALL_RULES } from './chat/tool-calls.ts';
import { createGoogleError } from '../wire/google-answer.ts';
import { GOOGLE_CONTENT_RULES } from './google/contents.ts';
import { GOOGLE_FUNCTION_RULES } from './google/functions.ts';
import { GOOGLE_PARAMETER_RULES } from './google/parameters.ts';
import { readGoogle, type GoogleRequest } from './google/request.ts';
import { RESPONSES_ITEM_RULES } from './responses/items.ts';
import { RESPONSES_ORDER_RULES } from './responses/order.ts';
import { RESPONSES_PARAMETER_RULES } from './responses/parameters.ts';
import { readResponses, type ResponsesRequest } from './responses/request.ts';

export const RESPONSES_RULES: readonly StrictRule<ResponsesRequest>[] = [
  ...RESPONSES_PARAMETER_RULES,
  ...RESPONSES_ITEM_RULES,
  ...RESPONSES_ORDER_RULES,
];

export const GOOGLE_RULES: readonly StrictRule<GoogleRequest>[] = [
  ...GOOGLE_PARAMETER_RULES,
  ...GOOGLE_CONTENT_RULES,
  ...GOOGLE_FUNCTION_RULES,
];

export const CHAT_RULES: readonly StrictRule<ChatRequest>[] = [
  ...CHAT_PARAMETER_RULES,
  ...CHAT_CONTENT_RULES,
  ...CHAT_CALL_RULES,
];

export const ANTHROPIC_RULES: readonly StrictRule<AnthropicRequest>[] = [
  ...ANTHROPIC_PARAMETER_RULES,
  ...ANTHROPIC_THINKING_PARAMETER_RULES,
  ...ANTHROPIC_CONTENT_RULES,
  ...ANTHROPIC_TOOL_CALL_RULES,
  ...ANTHROPIC_THINKING_RULES,
];

/** The parts of a request that the rules check. */
export interface CheckedRequest {
  /** The protocol of the request. */
  readonly protocol: WireProtocol;
  /** The body of the request. */
  readonly body: JsonObject;
  /** The model of the request. Requests to Google contain it in their path and not in `body`. */
  readonly model: string;
}

/**
 * Finds all published rules of the protocol's vendor that a request breaks. The vendor's server would answer with the first
 * of these violations. Returns an empty list if the server would accept the request.
 *
 * @example
 * import { checkRequest, describeViolations } from 'muster-agent/testing';
 *
 * const body = { model: 'claude-sonnet-4-5', messages: [] };
 * console.log(describeViolations(checkRequest({ protocol: 'anthropic', model: body.model, body })));
 */
export function checkRequest(
  { protocol, body, model }: CheckedRequest,
  options: StrictOptions = {},
): readonly Violation[] {
  switch (protocol) {
    case 'anthropic':
      return applyRules(ANTHROPIC_RULES, readAnthropic(body), createAnthropicError);
    case 'responses':
      return applyRules(RESPONSES_RULES, readResponses(body, options), createOpenaiRefusal);
    case 'chat': {
      const rules = [...CHAT_RULES, ...CHAT_SERVER_RULES[options.chatServer ?? 'compatible']];
      return applyRules(rules, readChat(body, options), createOpenaiRefusal);
    }
    case 'google':
      return applyRules(GOOGLE_RULES, readGoogle(body, model), createGoogleError);
  }
}
