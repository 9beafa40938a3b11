import { isJsonObject } from '../../../base/json.ts';
import { parseOrKeep, readString } from '../../wire/read-json.ts';
import {
  checkListIsNotEmpty,
  checkFunctionName,
  checkLength,
  checkJsonType,
} from '../openai-refusal.ts';
import { selectRepeatedItems, type LocatedObject } from '../read.ts';
import type { StrictRule } from '../rule.ts';
import { findMessageBeforeResults, listResultsAfter, type ChatRequest } from './request.ts';

const MAX_CALL_ID_LENGTH = 40;

/** The rules for calls of functions and for their results. */
export const CHAT_CALL_RULES: readonly StrictRule<ChatRequest>[] = [
  {
    id: 'chat/calls-answered',
    requirement:
      'A message with calls is followed by a tool message for each call before any other message.',
    source: 'https://github.com/aliasrobotics/cai/issues/111',
    *find({ messages }) {
      for (const { path, index, calls } of messages) {
        const answered = new Set(
          listResultsAfter(messages, index).map(({ value }) => value['tool_call_id']),
        );
        const missing = calls.filter(({ id }) => !answered.has(id));
        if (missing.length === 0) continue;
        const ids = missing.map(({ id }) => id).join(', ');
        const message = `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids}`;
        yield { path: `${path}.tool_calls`, message };
      }
    },
  },
  {
    id: 'chat/tool-message-asked-for',
    requirement: 'A tool message belongs to a call of the message before the tool messages.',
    source: 'https://github.com/microsoft/promptflow/pull/3130',
    *find({ messages }) {
      for (const { path, index, role, value } of messages) {
        if (role !== 'tool') continue;
        const calls = findMessageBeforeResults(messages, index)?.calls ?? [];
        if (calls.some(({ id }) => id === value['tool_call_id'])) continue;
        const message =
          calls.length === 0
            ? "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
            : `Invalid parameter: 'tool_call_id' of '${readString(value['tool_call_id'])}' not found in 'tool_calls' of previous message.`;
        yield { path: `${path}.role`, message };
      }
    },
  },
  {
    id: 'chat/call-id-unique',
    requirement: 'The calls of a message have different ids, and each has one tool message.',
    source: 'https://platform.openai.com/docs/api-reference/chat/create',
    *find({ messages }) {
      for (const { index, calls } of messages) {
        if (calls.length === 0) continue;
        const results = listResultsAfter(messages, index);
        const readId = ({ value }: LocatedObject) =>
          readString(value['id'] ?? value['tool_call_id']);
        for (const each of [
          ...selectRepeatedItems(calls, readId),
          ...selectRepeatedItems(results, readId),
        ]) {
          const message = `Duplicate value for 'tool_call_id' of ${readId(each)} in message[${index}]`;
          yield { path: each.path, message };
        }
      }
    },
  },
  {
    id: 'chat/call-id-length',
    requirement: 'The id of a call has 1 to 40 characters.',
    source: 'https://github.com/microsoft/autogen/issues/6377',
    *find({ messages }) {
      const length = { min: 1, max: MAX_CALL_ID_LENGTH };
      for (const { path, role, value, calls } of messages) {
        for (const call of calls) {
          yield* checkJsonType(`${call.path}.id`, call.value['id'], 'string');
          yield* checkLength(`${call.path}.id`, call.value['id'], length);
        }
        if (role !== 'tool') continue;
        yield* checkJsonType(`${path}.tool_call_id`, value['tool_call_id'], 'string');
        yield* checkLength(`${path}.tool_call_id`, value['tool_call_id'], length);
      }
    },
  },
  {
    id: 'chat/function-name-form',
    requirement: 'The name of a called function has 1 to 64 letters, digits, _ and -.',
    source: 'https://github.com/mcp-use/mcp-use/issues/90',
    *find({ messages }) {
      for (const call of messages.flatMap(({ calls }) => calls)) {
        yield* checkFunctionName(`${call.path}.function.name`, call.function['name']);
      }
    },
  },
  {
    id: 'chat/arguments-json-text',
    requirement:
      'The arguments of a call are the text of a JSON object: chat templates parse them.',
    source: 'https://github.com/QwenLM/Qwen3-Coder/issues/444',
    *find({ messages }) {
      for (const call of messages.flatMap(({ calls }) => calls)) {
        const path = `${call.path}.function.arguments`;
        const given = call.function['arguments'];
        if (typeof given !== 'string') yield* checkJsonType(path, given, 'string');
        else if (!isJsonObject(parseOrKeep(given))) {
          yield { path, message: 'Can only get item pairs from a mapping.', status: 500 };
        }
      }
    },
  },
  {
    id: 'chat/calls-not-empty',
    requirement: 'A list of calls is not empty.',
    source: 'https://github.com/openai/openai-node/pull/1341',
    *find({ messages }) {
      for (const { path, value } of messages) {
        yield* checkListIsNotEmpty(`${path}.tool_calls`, value['tool_calls']);
      }
    },
  },
];
