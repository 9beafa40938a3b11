import { isList } from '../../wire/read-json.ts';
import { createWellFormedTextRule, type StrictRule } from '../rule.ts';
import { checkPartTypes, checkSupportedValue, checkListIsNotEmpty } from '../openai-refusal.ts';
import { locateObjects } from '../read.ts';
import type { ChatRequest } from './request.ts';

const ROLES = ['system', 'assistant', 'user', 'function', 'tool', 'developer'];

const PARTS_OF_ROLE: Readonly<Record<string, readonly string[]>> = {
  system: ['text'],
  developer: ['text'],
  user: ['text', 'image_url', 'input_audio', 'file'],
  assistant: ['text', 'refusal'],
  tool: ['text'],
};

/** The rules for messages and their content. */
export const CHAT_CONTENT_RULES: readonly StrictRule<ChatRequest>[] = [
  {
    id: 'chat/messages-present',
    requirement: 'There is at least one message.',
    source: 'https://platform.openai.com/docs/api-reference/chat/create',
    *find({ body, messages }) {
      if (messages.length > 0) return;
      if (isList(body['messages'])) yield* checkListIsNotEmpty('messages', body['messages']);
      else yield { path: 'messages', message: "Missing required parameter: 'messages'." };
    },
  },
  {
    id: 'chat/known-role',
    requirement: 'The role of a message is one of the six that the protocol has.',
    source: 'https://platform.openai.com/docs/api-reference/chat/create',
    *find({ messages }) {
      for (const { path, role } of messages) {
        yield* checkSupportedValue(`${path}.role`, role, ROLES, ', and ');
      }
    },
  },
  {
    id: 'chat/refused-role',
    requirement: 'No message has a role that this server refuses.',
    source: 'https://github.com/kubernetes-sigs/inference-perf/issues/553',
    *find({ messages, options: { refusedRoles = [] } }) {
      for (const { path, role } of messages) {
        if (!refusedRoles.includes(role)) continue;
        const message =
          role === 'system' ? 'System role not supported' : 'Unexpected message role.';
        yield { path: `${path}.role`, message };
      }
    },
  },
  {
    id: 'chat/message-has-content',
    requirement: 'A message has content; an answer that makes calls needs none.',
    source: 'https://github.com/docker/docker-agent/issues/63',
    *find({ messages }) {
      for (const { path, role, value } of messages) {
        const { content } = value;
        const isOptional = role === 'assistant' && value['tool_calls'] !== undefined;
        if (typeof content === 'string' || isList(content) || isOptional) continue;
        const type = content === undefined || content === null ? 'null' : typeof content;
        const message = `Invalid value for 'content': expected a string, got ${type}.`;
        yield { path: `${path}.content`, message };
      }
    },
  },
  {
    id: 'chat/content-not-empty-list',
    requirement: 'A list of content parts is not empty.',
    source: 'https://github.com/langchain-ai/langchainjs/pull/11419',
    *find({ messages }) {
      for (const { path, value } of messages) {
        yield* checkListIsNotEmpty(`${path}.content`, value['content']);
      }
    },
  },
  {
    id: 'chat/part-fits-role',
    requirement:
      'A message contains only parts that its role may have: images and files only in user messages.',
    source: 'https://platform.openai.com/docs/api-reference/chat/create',
    *find({ messages, options }) {
      const isMistral = options.chatServer === 'mistral';
      for (const { path, role, value } of messages) {
        const known = PARTS_OF_ROLE[role];
        if (known === undefined) continue;
        // Mistral sends thoughts as parts, and takes them back: https://docs.mistral.ai/capabilities/reasoning
        const others = isMistral && role === 'assistant' ? ['thinking'] : [];
        yield* checkPartTypes(`${path}.content`, value['content'], [...known, ...others]);
      }
    },
  },
  {
    id: 'chat/text-part-not-empty',
    requirement:
      'No text part of a user message is empty: models of other vendors with this protocol refuse it.',
    source: 'https://github.com/RooCodeInc/Roo-Code/pull/10728',
    *find({ messages }) {
      for (const { path, role, value } of messages) {
        if (role !== 'user') continue;
        for (const part of locateObjects(value['content'], (at) => `${path}.content[${at}]`)) {
          if (part.value['type'] !== 'text' || part.value['text'] !== '') continue;
          const message =
            'Unable to submit request because it must include at least one parts field, which describes the prompt input.';
          yield { path: `${part.path}.text`, message };
        }
      }
    },
  },
  createWellFormedTextRule(
    'chat',
    'https://platform.openai.com/docs/guides/error-codes',
    'We could not parse the JSON body of your request. (HINT: This likely means you aren’t using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)',
  ),
];
