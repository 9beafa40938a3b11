import { createWellFormedTextRule, type StrictRule } from '../rule.ts';
import { isJsonObject } from '../../../base/json.ts';
import { isList, parseOrKeep, readString } from '../../wire/read-json.ts';
import {
  checkPartTypes,
  checkSupportedValue,
  checkListIsNotEmpty,
  checkFunctionName,
  checkLength,
  checkJsonType,
} from '../openai-refusal.ts';
import { selectRepeatedItems, findUnknownKeys } from '../read.ts';
import { CALLS, OUTPUTS, selectItems, type ResponsesRequest } from './request.ts';

/**
 * The fields of the items that a client sends if it runs its tools itself:
 * https://platform.openai.com/docs/api-reference/responses/create
 */
const ITEM_FIELDS: Readonly<Record<string, readonly string[]>> = {
  message: ['type', 'id', 'status', 'role', 'content', 'phase'],
  function_call: ['type', 'id', 'status', 'call_id', 'name', 'namespace', 'arguments'],
  function_call_output: ['type', 'id', 'status', 'call_id', 'output'],
  custom_tool_call: ['type', 'id', 'status', 'call_id', 'name', 'namespace', 'input'],
  custom_tool_call_output: ['type', 'id', 'status', 'call_id', 'output'],
  reasoning: ['type', 'id', 'status', 'summary', 'content', 'encrypted_content'],
  item_reference: ['type', 'id'],
};

const ROLES = ['assistant', 'system', 'developer', 'user'];
const OUTPUT_PARTS = ['input_text', 'input_image', 'input_file'];
const INPUT_PARTS = [...OUTPUT_PARTS, 'input_audio'];
const PARTS_OF_ROLE: Readonly<Record<string, readonly string[]>> = {
  user: INPUT_PARTS,
  system: INPUT_PARTS,
  developer: INPUT_PARTS,
  assistant: ['output_text', 'refusal'],
};

const MAX_ID_LENGTH = 64;
const ID_PREFIX: Readonly<Record<string, string>> = {
  message: 'msg',
  function_call: 'fc',
  custom_tool_call: 'ctc',
  reasoning: 'rs',
};

/** The rules for the form of the items of the input. */
export const RESPONSES_ITEM_RULES: readonly StrictRule<ResponsesRequest>[] = [
  {
    id: 'responses/known-item',
    requirement:
      'Each item of the input is of a known type, without fields that the API does not know.',
    source: 'https://platform.openai.com/docs/api-reference/responses/create',
    *find({ items }) {
      for (const { path, type, value } of items) {
        const known = ITEM_FIELDS[type];
        yield* checkSupportedValue(`${path}.type`, type, Object.keys(ITEM_FIELDS));
        for (const key of known === undefined ? [] : findUnknownKeys(value, known)) {
          const message = `Unknown parameter: '${path}.${key}'.`;
          yield { path: `${path}.${key}`, message, code: 'unknown_parameter' };
        }
      }
    },
  },
  {
    id: 'responses/known-role',
    requirement: 'The role of a message is user, assistant, system or developer.',
    source: 'https://platform.openai.com/docs/api-reference/responses/create',
    *find(request) {
      for (const { path, role } of selectItems(request, 'message')) {
        yield* checkSupportedValue(`${path}.role`, role, ROLES, ', and ');
      }
    },
  },
  {
    id: 'responses/refused-role',
    requirement: 'No message has a role that this server refuses.',
    source: 'https://github.com/1CatAI/1Cat-vLLM/issues/493',
    *find(request) {
      const { refusedRoles = [] } = request.options;
      for (const { path, role } of selectItems(request, 'message')) {
        if (!refusedRoles.includes(role)) continue;
        yield { path: `${path}.role`, message: 'Unexpected message role.' };
      }
    },
  },
  {
    id: 'responses/message-content',
    requirement:
      'A message contains text or parts that its role may have, and no empty list of parts.',
    source: 'https://platform.openai.com/docs/api-reference/responses/create',
    *find(request) {
      for (const { path, role, value } of selectItems(request, 'message')) {
        const { content } = value;
        if (typeof content === 'string') continue;
        yield* checkJsonType(`${path}.content`, content, 'array');
        yield* checkListIsNotEmpty(`${path}.content`, content);
        const known = PARTS_OF_ROLE[role];
        if (known === undefined) continue;
        yield* checkPartTypes(`${path}.content`, content, known, ' and ');
      }
    },
  },
  {
    id: 'responses/item-id-form',
    requirement:
      'The id of an item has 1 to 64 letters, digits, _ and -, and begins with the prefix of its type.',
    source: 'https://github.com/nodetool-ai/nodetool/pull/4252',
    *find({ items }) {
      for (const { path, type, value } of items) {
        const { id } = value;
        if (id === undefined) continue;
        yield* checkJsonType(`${path}.id`, id, 'string');
        if (typeof id !== 'string') continue;
        yield* checkLength(`${path}.id`, id, { max: MAX_ID_LENGTH });
        const prefix = ID_PREFIX[type] ?? '';
        if (!/^[a-zA-Z0-9_-]+$/.test(id)) {
          const message = `Invalid '${path}.id': '${id}'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.`;
          yield { path: `${path}.id`, message, code: 'invalid_value' };
        } else if (!id.startsWith(prefix)) {
          const message = `Invalid '${path}.id': '${id}'. Expected an ID that begins with '${prefix}'.`;
          yield { path: `${path}.id`, message, code: 'invalid_value' };
        }
      }
    },
  },
  {
    id: 'responses/item-id-unique',
    requirement: 'No two items have the same id.',
    source: 'https://github.com/vercel/ai/issues/7883',
    *find({ items }) {
      const named = items.filter(({ value }) => value['id'] !== undefined);
      for (const { path, value } of selectRepeatedItems(named, (item) => item.value['id'])) {
        const message = `Duplicate item found with id ${readString(value['id'])}. Remove duplicate items from your input and try again.`;
        yield { path: `${path}.id`, message };
      }
    },
  },
  {
    id: 'responses/call-id-length',
    requirement: 'The id by which a call and its output are matched has 1 to 64 characters.',
    source: 'https://github.com/AnswerDotAI/fastllm/issues/45',
    *find(request) {
      for (const { path, value } of selectItems(request, ...CALLS, ...OUTPUTS)) {
        yield* checkJsonType(`${path}.call_id`, value['call_id'], 'string');
        yield* checkLength(`${path}.call_id`, value['call_id'], { min: 1, max: MAX_ID_LENGTH });
      }
    },
  },
  {
    id: 'responses/function-name-form',
    requirement: 'The name of a called function has 1 to 64 letters, digits, _ and -.',
    source: 'https://github.com/NousResearch/hermes-agent/issues/31666',
    *find(request) {
      for (const { path, value } of selectItems(request, ...CALLS)) {
        yield* checkFunctionName(`${path}.name`, value['name']);
      }
    },
  },
  {
    id: 'responses/arguments-json-text',
    requirement: 'The arguments of a call are the text of a JSON object.',
    source: 'https://platform.openai.com/docs/guides/function-calling',
    *find(request) {
      for (const { path, value } of selectItems(request, 'function_call')) {
        const given = value['arguments'];
        const argumentsPath = `${path}.arguments`;
        if (typeof given !== 'string') yield* checkJsonType(argumentsPath, given, 'string');
        else if (!isJsonObject(parseOrKeep(given))) {
          const message = `Invalid '${argumentsPath}': expected the JSON text of an object.`;
          yield { path: argumentsPath, message, code: 'invalid_value' };
        }
      }
    },
  },
  {
    id: 'responses/output-form',
    requirement: 'The output of a call is text, or parts of text, images and files.',
    source: 'https://platform.openai.com/docs/api-reference/responses/create',
    *find(request) {
      for (const { path, value } of selectItems(request, ...OUTPUTS)) {
        const { output } = value;
        if (typeof output === 'string') continue;
        if (!isList(output)) yield* checkJsonType(`${path}.output`, output, 'string');
        yield* checkListIsNotEmpty(`${path}.output`, output);
        yield* checkPartTypes(`${path}.output`, output, OUTPUT_PARTS, ', and ');
      }
    },
  },
  createWellFormedTextRule(
    'responses',
    'https://platform.openai.com/docs/guides/error-codes',
    'We could not parse the JSON body of your request.',
  ),
];
