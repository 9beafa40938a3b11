import { expect, test } from 'vitest';
import {
  hasNoFacts,
  isForChat,
  mergeFacts,
  unknownModel,
} from '../../src/protocol/listed-model.ts';

test.each([
  ['gpt-6-sol', true],
  ['claude-sonnet-5', true],
  ['qwen3:8b', true],
  ['guardian-8b', true],
  ['text-embedding-3-large', false],
  ['nomic-embed-text', false],
  ['bge-m3', false],
  ['whisper-1', false],
  ['gpt-4o-mini-tts', false],
  ['gpt-4o-transcribe', false],
  ['gpt-image-1', false],
  ['dall-e-3', false],
  ['omni-moderation-latest', false],
  ['llama-guard-4-12b', false],
  ['gpt-4o-realtime-preview', false],
])('%s is for conversations: %s', (id, isChat) => {
  expect(isForChat(unknownModel(id))).toBe(isChat);
  expect(isForChat({ ...unknownModel(id), chat: !isChat })).toBe(!isChat);
});

test('the first list that states a fact counts', () => {
  const first = { ...unknownModel('a'), contextWindow: 1, tools: false };
  const second = { ...unknownModel('b'), contextWindow: 2, tools: true, efforts: ['low'] };
  expect(mergeFacts(first, second)).toEqual({ ...first, efforts: ['low'] });
  expect([hasNoFacts(unknownModel('a')), hasNoFacts(first)]).toEqual([true, false]);
});
