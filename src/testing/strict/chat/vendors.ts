import { listNames } from '../../../base/text.ts';
import type { JsonObject } from '../../../base/json.ts';
import { readObject, readString } from '../../wire/read-json.ts';
import { locateObjects, findUnknownKeys } from '../read.ts';
import type { Breach, StrictRule } from '../rule.ts';
import type { ChatRequest } from './request.ts';
import type { ChatServer } from '../options.ts';
import {
  checkModelParameters,
  REASONING_MODELS,
  createUnsupportedBreach,
} from '../openai-refusal.ts';

const MISTRAL_CALL_ID = /^[a-zA-Z0-9]{9}$/;

/** The parameters of https://docs.mistral.ai/api/endpoint/chat. */
const MISTRAL_PARAMETERS = listNames(`
  model messages temperature top_p max_tokens stream stop random_seed metadata response_format
  tools tool_choice presence_penalty frequency_penalty n prediction parallel_tool_calls
  prompt_mode reasoning_effort safe_prompt prompt_cache_key
`);
const MISTRAL_MESSAGE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  system: ['role', 'content'],
  user: ['role', 'content'],
  assistant: ['role', 'content', 'tool_calls', 'prefix'],
  tool: ['role', 'content', 'tool_call_id', 'name'],
};

const MISTRAL_RULES: readonly StrictRule<ChatRequest>[] = [
  {
    id: 'mistral/call-id-form',
    requirement: 'The id of a call has exactly 9 letters and digits.',
    source: 'https://github.com/anomalyco/opencode/issues/1680',
    *find({ messages }) {
      for (const { path, role, value, calls } of messages) {
        const ids = calls.map((call) => ({ path: `${call.path}.id`, id: call.id }));
        if (role === 'tool') {
          ids.push({ path: `${path}.tool_call_id`, id: readString(value['tool_call_id']) });
        }
        for (const { path: idPath, id } of ids) {
          if (MISTRAL_CALL_ID.test(id)) continue;
          const message = `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`;
          yield createMistralBreach({ path: idPath, message }, 'invalid_function_call', '3280');
        }
      }
    },
  },
  {
    id: 'mistral/message-order',
    requirement:
      'An assistant message comes between the results of calls and the next user message.',
    source: 'https://github.com/avante-corp/avante.nvim/pull/2695',
    *find({ messages }) {
      for (const [index, { path, role }] of messages.entries()) {
        if (role !== 'user' || messages[index - 1]?.role !== 'tool') continue;
        const message = "Unexpected role 'user' after role 'tool'";
        yield createMistralBreach(
          { path: `${path}.role`, message },
          'invalid_request_message_order',
          '3230',
        );
      }
    },
  },
  {
    id: 'mistral/answer-not-empty',
    requirement: 'An assistant message has content or calls.',
    source: 'https://docs.mistral.ai/capabilities/function_calling/',
    *find({ messages }) {
      for (const { path, role, value, calls } of messages) {
        if (role !== 'assistant' || calls.length > 0) continue;
        const { content } = value;
        if (content !== undefined && content !== null && content !== '') continue;
        const message = 'Assistant message must have either content or tool_calls, but not none.';
        yield createMistralBreach({ path, message }, 'invalid_request_assistant_message', '3240');
      }
    },
  },
  {
    id: 'mistral/last-message',
    requirement: 'The last message is a user message or the result of a call.',
    source: 'https://github.com/anomalyco/opencode/issues/19115',
    *find({ messages }) {
      const last = messages.at(-1);
      if (last?.role !== 'assistant' || last.value['prefix'] === true) return;
      const message =
        'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant';
      yield createMistralBreach(
        { path: `${last.path}.role`, message },
        'invalid_request_message_order',
        '3230',
      );
    },
  },
  {
    id: 'mistral/known-fields',
    requirement:
      'There are no fields that Mistral does not know, stream_options and reasoning_content among them.',
    source: 'https://github.com/vybestack/llxprt-code/issues/114',
    *find({ body, messages }) {
      for (const key of findUnknownKeys(body, MISTRAL_PARAMETERS))
        yield createExtraFieldBreach(key, ['body', key]);
      for (const { path, index, role, value } of messages) {
        const known = MISTRAL_MESSAGE_FIELDS[role];
        if (known === undefined) continue;
        for (const key of findUnknownKeys(value, known)) {
          yield createExtraFieldBreach(`${path}.${key}`, ['body', 'messages', index, role, key]);
        }
      }
    },
  },
];

function createMistralBreach(breach: Breach, type: string, code: string): Breach {
  const body: JsonObject = { object: 'error', message: breach.message, type, param: null, code };
  return { ...breach, body };
}

function createExtraFieldBreach(path: string, loc: readonly (string | number)[]): Breach {
  const message = 'Extra inputs are not permitted';
  const body: JsonObject = { detail: [{ type: 'extra_forbidden', loc, msg: message }] };
  return { path, message, status: 422, body };
}

const DEEPSEEK_RULES: readonly StrictRule<ChatRequest>[] = [
  {
    id: 'deepseek/reasoning-with-calls',
    requirement:
      'In thinking mode an answer with calls has its reasoning_content, which may be empty.',
    source: 'https://github.com/hotovo/aider-desk/issues/529',
    *find({ body, model, messages }) {
      if (model === 'deepseek-chat' || readObject(body['thinking'])['type'] === 'disabled') return;
      for (const { path, index, calls, value } of messages) {
        if (calls.length === 0 || typeof value['reasoning_content'] === 'string') continue;
        const message = `Missing \`reasoning_content\` field in the assistant message at message index ${index}. For more information, please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls`;
        yield { path: `${path}.reasoning_content`, message, code: 'invalid_request_error' };
      }
    },
  },
  {
    id: 'deepseek/text-only',
    requirement: 'Messages contain only text.',
    source: 'https://github.com/nesquena/hermes-webui/issues/2297',
    *find({ messages }) {
      for (const { path, index, value } of messages) {
        for (const part of locateObjects(value['content'], (at) => `${path}.content[${at}]`)) {
          const type = readString(part.value['type']);
          if (type === 'text') continue;
          const message = `Failed to deserialize the JSON body into the target type: messages[${index}]: unknown variant \`${type}\`, expected \`text\` at line 1 column 1`;
          yield { path: `${part.path}.type`, message, code: 'invalid_request_error' };
        }
      }
    },
  },
];

/** Matches the models that check the signatures of their calls: Gemini 3 and later. */
const SIGNATURE_MODELS = /(?:^|\/)gemini-(?:[3-9]|[1-9]\d)/;

/** The rules of Gemini's server for the Chat protocol. */
const GOOGLE_CHAT_RULES: readonly StrictRule<ChatRequest>[] = [
  {
    id: 'google-chat/signature-present',
    requirement:
      'After the last user message, the first call of each answer of Gemini 3 and later has its signature.',
    source: 'https://ai.google.dev/gemini-api/docs/thought-signatures',
    *find({ model, messages }) {
      if (!SIGNATURE_MODELS.test(model)) return;
      const turn = messages.findLastIndex(({ role }) => role === 'user');
      for (const { calls, index } of messages.slice(turn + 1)) {
        const [first] = calls;
        if (first === undefined) continue;
        const { google } = readObject(first.value['extra_content']);
        if (readString(readObject(google)['thought_signature']) !== '') continue;
        const name = readString(first.function['name']);
        const message = `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${index + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;
        yield { path: first.path, message };
      }
    },
  },
];

const OPENAI_RULES: readonly StrictRule<ChatRequest>[] = [
  {
    id: 'openai/parameters-of-model',
    requirement: 'The requested model supports all parameters.',
    source: 'https://github.com/griptape-ai/ComfyUI-Griptape/issues/312',
    *find({ body, model }) {
      yield* checkModelParameters(body);
      if (body['max_tokens'] === undefined || !REASONING_MODELS.test(model)) return;
      const { path, message, code } = createUnsupportedBreach('max_tokens');
      yield { path, message: `${message} Use 'max_completion_tokens' instead.`, code };
    },
  },
];

const COMPATIBLE_RULES: readonly StrictRule<ChatRequest>[] = [
  {
    id: 'compatible/one-system-message',
    requirement: 'Only the first message is a system message: chat templates refuse a second one.',
    source: 'https://github.com/BerriAI/litellm/issues/26879',
    *find({ messages }) {
      for (const { path, index, role } of messages) {
        if (index === 0 || role !== 'system') continue;
        yield { path: `${path}.role`, message: 'System message must be at the beginning.' };
      }
    },
  },
];

/** The rules of each server in addition to the rules of all servers with the protocol. */
export const CHAT_SERVER_RULES: Readonly<Record<ChatServer, readonly StrictRule<ChatRequest>[]>> = {
  openai: OPENAI_RULES,
  compatible: COMPATIBLE_RULES,
  mistral: MISTRAL_RULES,
  deepseek: DEEPSEEK_RULES,
  google: GOOGLE_CHAT_RULES,
};
