import type { ErrorInfo } from '../base/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';

/** A call in the fields that hooks know. `tool`: the canonical name. */
export function callHookFields(call: {
  readonly id: string;
  readonly tool: string;
  readonly input: JsonValue;
}): JsonObject {
  return {
    tool_name: call.tool,
    tool_input: isJsonObject(call.input) ? call.input : {},
    tool_use_id: call.id,
  };
}

/** The outcome of a call in the fields that hooks know. `error`: its code; null if the call has ended well. */
export function outcomeHookFields(text: string, error: ErrorInfo['code'] | null): JsonObject {
  if (error === null) return { tool_response: { text } };
  return { error: text, error_code: error, is_interrupt: error === 'CANCELLED' };
}

/** A call among all of one answer in the fields that hooks know. `text`: its result. */
export function batchHookFields(
  call: Parameters<typeof callHookFields>[0],
  text: string,
): JsonObject {
  return { ...callHookFields(call), tool_response: text };
}

/** The end of a task in the fields that hooks know. */
export function endHookFields(
  answer: string,
  { isRepeated }: { readonly isRepeated: boolean },
): JsonObject {
  return { stop_hook_active: isRepeated, last_assistant_message: answer };
}

/**
 * Returns the call id in the events of the child that answers the question of a hook. No call of a model has it.
 *
 * @param child the id of the child
 */
export function toHookCallId(child: string): string {
  return `hook-${child}`;
}
