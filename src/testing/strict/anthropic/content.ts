import { createWellFormedTextRule, type StrictRule } from '../rule.ts';
import { isList, readString, readObject } from '../../wire/read-json.ts';
import { quoteNames, locateObjects } from '../read.ts';
import { listAllBlocks, type AnthropicRequest } from './request.ts';

/** The types of blocks that a client may send in a message, by role. */
const BLOCKS_OF_ROLE: Readonly<Record<string, readonly string[]>> = {
  user: ['text', 'image', 'document', 'search_result', 'tool_result'],
  assistant: ['text', 'thinking', 'redacted_thinking', 'tool_use'],
};

/** Matches the models that continue an answer which the client has begun (a prefill). Later models refuse such requests. */
const PREFILL_MODELS =
  /claude-(?:[23]\b|instant|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8}|@\d{8}|-latest)?$)/;

const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

/** The rules for messages and their content. */
export const ANTHROPIC_CONTENT_RULES: readonly StrictRule<AnthropicRequest>[] = [
  {
    id: 'anthropic/messages-present',
    requirement: 'There is at least one message.',
    source: 'https://platform.claude.com/docs/en/api/messages',
    *find({ messages }) {
      if (messages.length > 0) return;
      yield { path: 'messages', message: 'messages: at least one message is required' };
    },
  },
  {
    id: 'anthropic/known-role',
    requirement: 'The role of a message is user or assistant.',
    source: 'https://platform.claude.com/docs/en/api/messages',
    *find({ messages }) {
      for (const { path, role } of messages) {
        if (role === 'user' || role === 'assistant') continue;
        const message = `messages: Unexpected role "${role}". The Messages API accepts a top-level \`system\` parameter, not "system" as an input message role.`;
        yield { path: `${path}.role`, message };
      }
    },
  },
  {
    id: 'anthropic/first-message-of-user',
    requirement: 'The first message is a user message.',
    source: 'https://platform.claude.com/docs/en/api/messages',
    *find({ messages }) {
      if (messages[0]?.role !== 'assistant') return;
      const message = 'messages: first message must use the "user" role';
      yield { path: 'messages.0.role', message };
    },
  },
  {
    id: 'anthropic/message-not-empty',
    requirement: 'Every message has content, except an assistant message at the end.',
    source: 'https://github.com/anthropics/claude-code/issues/6774',
    *find({ messages }) {
      for (const { path, role, value, index, blocks } of messages) {
        const isEmpty = value['content'] === '' || blocks.length === 0;
        const isLastAnswer = role === 'assistant' && index === messages.length - 1;
        if (!isEmpty || isLastAnswer) continue;
        const message = `${path}: all messages must have non-empty content except for the optional final assistant message`;
        yield { path: `${path}.content`, message };
      }
    },
  },
  {
    id: 'anthropic/block-fits-role',
    requirement: 'A message contains only blocks of known types that its role may have.',
    source: 'https://platform.claude.com/docs/en/api/messages',
    *find({ messages }) {
      for (const { role, blocks } of messages) {
        const known = BLOCKS_OF_ROLE[role];
        if (known === undefined) continue;
        for (const { path, type } of blocks) {
          if (known.includes(type)) continue;
          const isOther = Object.values(BLOCKS_OF_ROLE).some((types) => types.includes(type));
          const message = isOther
            ? `${path}: \`${type}\` blocks can not be in \`${role}\` messages`
            : `${path}: Input tag '${type}' found using 'type' does not match any of the expected tags`;
          yield { path, message };
        }
      }
    },
  },
  {
    id: 'anthropic/text-not-empty',
    requirement: 'No block of text is empty, also inside a result.',
    source: 'https://github.com/anthropics/claude-code/issues/59812',
    *find(request) {
      for (const { path, type, value } of listAllBlocks(request)) {
        // A message whose full content is the empty text breaks another rule: `anthropic/message-not-empty`.
        if (type !== 'text' || readString(value['text']) !== '' || path.endsWith('.content'))
          continue;
        yield { path: `${path}.text`, message: 'messages: text content blocks must be non-empty' };
      }
    },
  },
  {
    id: 'anthropic/text-not-blank',
    requirement: 'No block of text is only white space, whatever else its message contains.',
    // Reports differ about blank text beside other text (https://github.com/LibreChat-AI/agents/pull/124);
    // beside calls it is refused (https://github.com/aaif-goose/goose/pull/7343).
    source: 'https://github.com/anthropics/claude-code/issues/23369',
    *find({ messages }) {
      for (const { path, type, value } of messages.flatMap(({ blocks }) => blocks)) {
        const text = readString(value['text']);
        if (type !== 'text' || text === '' || text.trim() !== '') continue;
        const message = 'messages: text content blocks must contain non-whitespace text';
        yield { path: `${path}.text`, message };
      }
    },
  },
  {
    id: 'anthropic/last-answer-not-padded',
    requirement: 'An assistant message at the end does not end with white space.',
    source: 'https://github.com/anthropics/claude-code/issues/18731',
    *find({ messages }) {
      const last = messages.at(-1);
      const block = last?.blocks.at(-1);
      if (last?.role !== 'assistant' || block?.type !== 'text') return;
      if (!/\s$/.test(readString(block.value['text']))) return;
      const message = 'messages: final assistant content cannot end with trailing whitespace';
      yield { path: block.path, message };
    },
  },
  {
    id: 'anthropic/last-message-of-user',
    requirement:
      'The last message is a user message: Claude 4.6 and later do not continue a begun answer.',
    source: 'https://github.com/ericc-ch/copilot-api/pull/261',
    *find({ model, messages }) {
      if (messages.at(-1)?.role !== 'assistant') return;
      if (!model.includes('claude-') || PREFILL_MODELS.test(model)) return;
      const message =
        'This model does not support assistant message prefill. The conversation must end with a user message.';
      yield { path: `messages.${messages.length - 1}.role`, message };
    },
  },
  {
    id: 'anthropic/media-type',
    requirement: 'An image is a JPEG, PNG, GIF or WebP in base64, a document in base64 is a PDF.',
    source: 'https://platform.claude.com/docs/en/build-with-claude/vision',
    *find(request) {
      for (const { path, type, value } of listAllBlocks(request)) {
        const source = readObject(value['source']);
        if ((type !== 'image' && type !== 'document') || source['type'] !== 'base64') continue;
        const known = type === 'image' ? IMAGE_TYPES : ['application/pdf'];
        const vendorPath = `${path}.${type}.source.base64`;
        if (!known.includes(readString(source['media_type']))) {
          const message = `${vendorPath}.media_type: Input should be ${quoteNames(known, ' or ')}`;
          yield { path: `${path}.source.media_type`, message };
        }
        if (!/^[A-Za-z0-9+/]+={0,2}$/.test(readString(source['data']))) {
          const message = `${vendorPath}.data: Input should be a valid base64 string`;
          yield { path: `${path}.source.data`, message };
        }
      }
    },
  },
  {
    id: 'anthropic/system-not-blank',
    requirement: 'The blocks of the system prompt are text, and none is only white space.',
    source: 'https://platform.claude.com/docs/en/api/messages',
    *find({ body }) {
      const { system } = body;
      const blocks = isList(system)
        ? locateObjects(system, (index) => `system.${index}`)
        : [{ path: 'system', value: { type: 'text', text: system ?? 'none' } }];
      for (const { path, value } of blocks) {
        const text = readString(value['text']);
        if (value['type'] === 'text' && text.trim() !== '') continue;
        const wrong = text === '' ? 'must be non-empty' : 'must contain non-whitespace text';
        yield { path, message: `system: text content blocks ${wrong}` };
      }
    },
  },
  createWellFormedTextRule(
    'anthropic',
    'https://github.com/anthropics/claude-code/issues/60394',
    'The request body is not valid JSON: no low surrogate in string: line 1 column 1 (char 0)',
  ),
];
