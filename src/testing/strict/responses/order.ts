import { readString } from '../../wire/read-json.ts';
import { selectRepeatedItems } from '../read.ts';
import type { Breach, StrictRule } from '../rule.ts';
import { CALLS, OUTPUTS, selectItems, type InputItem, type ResponsesRequest } from './request.ts';

/**
 * The rules for the order of items. The API also refuses an answer without its reasoning
 * (https://github.com/openai/openai-dotnet/issues/1050), but that can't be checked, because only the API
 * knows which reasoning belongs to an answer.
 */
export const RESPONSES_ORDER_RULES: readonly StrictRule<ResponsesRequest>[] = [
  {
    id: 'responses/call-answered',
    requirement: 'Each call is followed by its output.',
    source: 'https://github.com/openai/openai-agents-python/issues/673',
    *find(request) {
      const outputs = selectItems(request, ...OUTPUTS);
      for (const { path, index, type, value } of selectItems(request, ...CALLS)) {
        const id = value['call_id'];
        const isAnswer = (output: InputItem): boolean =>
          output.type === `${type}_output` && output.value['call_id'] === id;
        if (outputs.some((output) => isAnswer(output) && output.index > index)) continue;
        const message = `No tool output found for function call ${readString(id)}.`;
        yield { path, message };
      }
    },
  },
  {
    id: 'responses/output-asked-for',
    requirement: 'Each output belongs to a call before it.',
    source: 'https://github.com/continuedev/continue/issues/10092',
    *find(request) {
      const calls = selectItems(request, ...CALLS);
      for (const { path, index, type, value } of selectItems(request, ...OUTPUTS)) {
        const id = value['call_id'];
        const isCall = (call: InputItem): boolean =>
          type === `${call.type}_output` && call.value['call_id'] === id;
        if (calls.some((call) => isCall(call) && call.index < index)) continue;
        const message = `No tool call found for function call output with call_id ${readString(id)}.`;
        yield { path: `${path}.call_id`, message };
      }
    },
  },
  {
    id: 'responses/call-id-unique',
    requirement: 'No two calls have the same id, and no call has two outputs.',
    source: 'https://platform.openai.com/docs/guides/function-calling',
    *find(request) {
      for (const type of [...CALLS, ...OUTPUTS]) {
        const items = selectItems(request, type);
        for (const { path, value } of selectRepeatedItems(items, (item) => item.value['call_id'])) {
          const message = `Duplicate ${type} found with call_id ${readString(value['call_id'])}.`;
          yield { path: `${path}.call_id`, message };
        }
      }
    },
  },
  {
    id: 'responses/reasoning-followed',
    requirement:
      'Reasoning is followed by its result: more reasoning, a call or an assistant message.',
    source: 'https://github.com/continuedev/continue/issues/8933',
    *find(request) {
      for (const { path, index, value } of selectItems(request, 'reasoning')) {
        if (isPartOfAnswer(request.items[index + 1])) continue;
        const message = `Item '${readString(value['id'])}' of type 'reasoning' was provided without its required following item.`;
        yield { path, message };
      }
    },
  },
  {
    id: 'responses/reasoning-summary',
    requirement: 'Reasoning has its summary, which may be an empty list.',
    source: 'https://github.com/newo-ether/Agora/issues/141',
    *find(request) {
      for (const { path, value } of selectItems(request, 'reasoning')) {
        if (Array.isArray(value['summary'])) continue;
        const message = `Missing required parameter: '${path}.summary'.`;
        yield { path: `${path}.summary`, message, code: 'missing_required_parameter' };
      }
    },
  },
  {
    id: 'responses/nothing-stored',
    requirement:
      'With store: false, reasoning comes with its encrypted content, and no item refers to a stored one.',
    source: 'https://github.com/vercel/ai/issues/7543',
    *find(request) {
      if (request.body['store'] !== false) return;
      for (const { path, value } of selectItems(request, 'item_reference'))
        yield createNotStoredBreach(path, value['id']);
      for (const { path, value } of selectItems(request, 'reasoning')) {
        if (readString(value['encrypted_content']) === '')
          yield createNotStoredBreach(path, value['id']);
      }
    },
  },
];

function createNotStoredBreach(path: string, id: unknown): Breach {
  const message = `Item with id '${String(id ?? '')}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
  return { path, message, status: 404 };
}

/** Returns true if an item is a part of an answer of the model. */
function isPartOfAnswer(item: InputItem | undefined): boolean {
  if (item === undefined) return false;
  const { type, role } = item;
  const isCall = CALLS.some((each) => each === type);
  return type === 'reasoning' || isCall || (type === 'message' && role === 'assistant');
}
