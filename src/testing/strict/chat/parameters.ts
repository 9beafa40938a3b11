import { listNames } from '../../../base/text.ts';
import { readObject, readString } from '../../wire/read-json.ts';
import {
  createToolChoiceRule,
  checkListIsNotEmpty,
  locateTools,
  checkFunctionName,
  checkFunctionParameters,
  checkJsonType,
} from '../openai-refusal.ts';
import { selectRepeatedItems, type LocatedObject, findUnknownKeys } from '../read.ts';
import type { StrictRule } from '../rule.ts';
import type { ChatRequest } from './request.ts';

/** The parameters of https://platform.openai.com/docs/api-reference/chat/create. */
const PARAMETERS = listNames(`
  model messages audio frequency_penalty function_call functions logit_bias logprobs
  max_completion_tokens max_tokens metadata modalities n parallel_tool_calls prediction
  presence_penalty prompt_cache_key prompt_cache_retention reasoning_effort response_format
  safety_identifier seed service_tier stop store stream stream_options temperature tool_choice
  tools top_logprobs top_p user verbosity web_search_options
`);

const MESSAGE_FIELDS = listNames(`
  role content name tool_calls tool_call_id refusal audio function_call
`);

/**
 * The fields that vendors of open models have added. Most servers accept or ignore these fields, but OpenAI's server
 * refuses them.
 */
const VENDOR_MESSAGE_FIELDS = ['reasoning_content'];

const CALL_FIELDS = ['id', 'type', 'function'];
const FUNCTION_FIELDS = ['name', 'arguments'];

/** The field in which Google's server and its gateways expect the signature of a call. */
const VENDOR_CALL_FIELDS = ['extra_content'];

/** The rules for the parameters of a request other than its messages. */
export const CHAT_PARAMETER_RULES: readonly StrictRule<ChatRequest>[] = [
  {
    id: 'chat/model-present',
    requirement: 'The request names the model.',
    source: 'https://platform.openai.com/docs/api-reference/chat/create',
    *find({ model }) {
      if (model !== '') return;
      yield { path: 'model', message: 'you must provide a model parameter' };
    },
  },
  {
    id: 'chat/known-fields',
    requirement: 'All fields are known to the server.',
    source: 'https://github.com/coroot/coroot/issues/698',
    *find({ body, messages, options: { chatServer } }) {
      for (const key of findUnknownKeys(body, PARAMETERS)) {
        yield { path: key, message: `Unrecognized request argument supplied: ${key}` };
      }
      const vendors = chatServer === 'openai' ? [] : VENDOR_MESSAGE_FIELDS;
      for (const { path, index, value } of messages) {
        for (const key of findUnknownKeys(value, [...MESSAGE_FIELDS, ...vendors])) {
          const message = `Additional properties are not allowed ('${key}' was unexpected) - 'messages.${index}'`;
          yield { path: `${path}.${key}`, message };
        }
      }
    },
  },
  {
    id: 'chat/known-call-fields',
    requirement: 'All fields of a call are known to the server.',
    source: 'https://platform.openai.com/docs/api-reference/chat/create',
    *find({ messages, options: { chatServer } }) {
      const vendors = chatServer === 'openai' ? [] : VENDOR_CALL_FIELDS;
      for (const call of messages.flatMap(({ calls }) => calls)) {
        const unknown = [
          ...findUnknownKeys(call.value, [...CALL_FIELDS, ...vendors]),
          ...findUnknownKeys(call.function, FUNCTION_FIELDS).map((key) => `function.${key}`),
        ];
        for (const key of unknown) {
          const path = `${call.path}.${key}`;
          yield { path, message: `Unknown parameter: '${path}'.`, code: 'unknown_parameter' };
        }
      }
    },
  },
  {
    id: 'chat/refused-parameter',
    requirement: 'The request has no parameter that this server refuses.',
    source: 'https://github.com/anomalyco/opencode/issues/4698',
    *find({ body, messages, options: { refusedParameters = [] } }) {
      for (const name of refusedParameters) {
        if (body[name] !== undefined) {
          yield { path: name, message: `Unrecognized request argument supplied: ${name}` };
        }
        const field = /^messages\.(.+)$/.exec(name)?.[1];
        if (field === undefined) continue;
        for (const { path, index, role, value } of messages) {
          if (value[field] === undefined) continue;
          const message = `'messages.${index}' : for 'role:${role}' the following must be satisfied[('messages.${index}' : property '${field}' is unsupported)]`;
          yield { path: `${path}.${field}`, message };
        }
      }
    },
  },
  {
    id: 'chat/tool-form',
    requirement:
      'The list of tools is not empty, and each is a function whose parameters are the schema of an object.',
    source: 'https://github.com/streamnative/streamnative-mcp-server/issues/26',
    *find({ body }) {
      yield* checkListIsNotEmpty('tools', body['tools']);
      for (const { path, value } of locateTools(body)) {
        const spec = readObject(value['function']);
        if (value['type'] !== 'function') {
          const given = readString(value['type']);
          const message = `Invalid value: '${given}'. Supported values are: 'function' and 'custom'.`;
          yield { path: `${path}.type`, message, code: 'invalid_value' };
        }
        const parametersPath = `${path}.function.parameters`;
        yield* checkFunctionParameters(
          parametersPath,
          readString(spec['name']),
          spec['parameters'],
        );
      }
    },
  },
  {
    id: 'chat/tool-name-form',
    requirement: 'The name of a tool has 1 to 64 letters, digits, _ and -.',
    source: 'https://github.com/home-assistant/core/issues/121325',
    *find({ body }) {
      for (const { path, value } of locateTools(body)) {
        const { name } = readObject(value['function']);
        yield* checkFunctionName(`${path}.function.name`, name);
      }
    },
  },
  {
    id: 'chat/tool-name-unique',
    requirement: 'No two tools have the same name.',
    source: 'https://github.com/decolua/9router/pull/3333',
    *find({ body }) {
      const readName = ({ value }: LocatedObject) => readObject(value['function'])['name'];
      for (const { path } of selectRepeatedItems(locateTools(body), readName)) {
        yield { path: `${path}.function.name`, message: 'Tool names must be unique.' };
      }
    },
  },
  createToolChoiceRule('chat', 'https://platform.openai.com/docs/api-reference/chat/create'),
  {
    id: 'chat/stream-options-with-stream',
    requirement: 'Options of the stream come only with a stream.',
    source: 'https://platform.openai.com/docs/api-reference/chat/create',
    *find({ body }) {
      if (body['stream_options'] === undefined) return;
      yield* checkJsonType('stream_options', body['stream_options'], 'object');
      if (body['stream'] === true) return;
      const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
      yield { path: 'stream_options', message };
    },
  },
];
