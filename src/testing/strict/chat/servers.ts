import type { ChatServer } from '../options.ts';
import { parametersOfOtherModels, REASONS, unsupported } from '../openai-models.ts';
import type { StrictRule } from '../rule.ts';
import type { ChatRequest } from './request.ts';
import { DEEPSEEK_RULES, GOOGLE_CHAT_RULES, MISTRAL_RULES } from './vendors.ts';

const OPENAI_RULES: readonly StrictRule<ChatRequest>[] = [
  {
    id: 'openai/parameters-of-model',
    requirement: 'There is no parameter that the requested model does not support.',
    source: 'https://github.com/griptape-ai/ComfyUI-Griptape/issues/312',
    *find({ body, model }) {
      yield* parametersOfOtherModels(body);
      if (body['max_tokens'] === undefined || !REASONS.test(model)) return;
      const { path, message, code } = unsupported('max_tokens');
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

/** The rules that a server has beside those of all. */
export const CHAT_SERVER_RULES: Readonly<Record<ChatServer, readonly StrictRule<ChatRequest>[]>> = {
  openai: OPENAI_RULES,
  compatible: COMPATIBLE_RULES,
  mistral: MISTRAL_RULES,
  deepseek: DEEPSEEK_RULES,
  google: GOOGLE_CHAT_RULES,
};
