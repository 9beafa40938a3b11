import { describe, expect, test } from 'vitest';
import {
  type AttachmentModel,
  createAttachmentRules,
  estimateAttachmentTokens,
} from '../../../src/model/catalogue/attachment-rules.ts';
import { ATTACHMENT_TYPES } from '../../../src/protocol/attachment.ts';

const PNG = { type: 'image/png', bytes: 9, width: 9, height: 9 } as const;

function taken(protocol: AttachmentModel['protocol'], id: string): string {
  const rules = createAttachmentRules({ name: `p/${id}`, id, protocol });
  return ATTACHMENT_TYPES.filter((type) => rules.refusal({ type, bytes: 9 }) === null)
    .map((type) => type.replace(/^.*\//, ''))
    .join(' ');
}

const IMAGES = 'png jpeg gif webp';
const STILL = 'png jpeg webp';

test.each<readonly [AttachmentModel['protocol'], string, string]>([
  ['anthropic', 'claude-sonnet-5', `${IMAGES} pdf`],
  ['anthropic', 'claude-3-5-sonnet-20241022', `${IMAGES} pdf`],
  ['anthropic', 'claude-3-haiku-20240307', IMAGES],
  ['anthropic', 'claude-2.1', ''],
  ['anthropic', 'glm-4', ''],
  ['openai-responses', 'gpt-5', `${IMAGES} pdf`],
  ['openai-responses', 'gpt-4o-mini', `${IMAGES} pdf`],
  ['openai-responses', 'gpt-4-turbo', IMAGES],
  ['openai-responses', 'gpt-4', ''],
  ['openai-responses', 'gpt-3.5-turbo', ''],
  ['openai-responses', 'o3', `${IMAGES} pdf`],
  ['openai-responses', 'o3-mini', ''],
  ['openai-responses', 'gpt-oss-120b', ''],
  ['google', 'gemini-3.8-flash', `${STILL} pdf`],
  ['google', 'gemini-2.5-flash-preview-tts', ''],
  ['openai-chat', 'anthropic/claude-sonnet-5', IMAGES],
  ['openai-chat', 'google/gemini-2.5-pro', STILL],
  ['openai-chat', 'qwen3-vl:8b', STILL],
  ['openai-chat', 'llama3.2-vision', STILL],
  ['openai-chat', 'gemma3:12b', STILL],
  ['openai-chat', 'qwen3-coder', ''],
  ['openai-chat', 'llama3.1', ''],
])('%s %s accepts: %s', (protocol, id, types) => {
  expect(taken(protocol, id)).toBe(types);
});

test('the configuration has priority', () => {
  const model = { name: 'own/x', id: 'x', protocol: 'openai-chat' } as const;
  const of = (configured: AttachmentModel['configured']) =>
    createAttachmentRules({ ...model, configured });
  expect(of(['image', 'pdf']).refusal({ type: 'application/pdf', bytes: 9 })).toBeNull();
  expect(of(['pdf']).refusal(PNG)).toBe('own/x accepts no images');
  const claude = { ...model, id: 'claude-sonnet-5', configured: [] };
  expect(createAttachmentRules(claude).refusal(PNG)).toBe('own/x accepts no images');
});

test('a refusal states its reason', () => {
  const refusal = (id: string, protocol: AttachmentModel['protocol'], facts: object) =>
    createAttachmentRules({ name: `p/${id}`, id, protocol }).refusal({ ...PNG, ...facts });
  const gif = { type: 'image/gif', frames: 2 };
  expect([
    refusal('gemini-2.5-pro', 'google', gif),
    refusal('gpt-5', 'openai-responses', gif),
    refusal('gpt-5', 'openai-responses', { ...gif, frames: 1 }),
    refusal('claude-sonnet-5', 'anthropic', gif),
    refusal('claude-3-opus-1', 'anthropic', { type: 'application/pdf' }),
  ]).toEqual([
    'p/gemini-2.5-pro accepts no GIF images. Convert it to PNG first',
    'p/gpt-5 accepts no animated GIF images. Convert it to PNG first',
    null,
    null,
    'p/claude-3-opus-1 accepts no PDF documents',
  ]);
});

describe("token counts of the vendors' own examples", () => {
  const image = (width: number, height: number) => ({ ...PNG, width, height });
  test.each([
    // https://platform.claude.com/docs/en/build-with-claude/vision
    ['anthropic', image(200, 200), 54],
    ['anthropic', image(1000, 1000), 1334],
    ['anthropic', image(8000, 8000), 1600],
    // https://developers.openai.com/api/docs/guides/images-vision
    ['openai', image(1024, 1024), 765],
    ['openai', image(2048, 4096), 1105],
    // https://ai.google.dev/gemini-api/docs/tokens
    ['google', image(384, 384), 258],
    ['google', image(960, 540), 1548],
    ['gemini-3', image(10, 10), 1120],
    ['anthropic', { type: 'application/pdf', bytes: 9, pages: 2 }, 6000],
    ['google', { type: 'application/pdf', bytes: 9, pages: 2 }, 516],
    // It does not say how many pages there are.
    ['google', { type: 'application/pdf', bytes: 120_000 }, 774],
  ] as const)('%s %o: %d', (count, facts, tokens) => {
    expect(estimateAttachmentTokens(count, facts)).toBe(tokens);
  });
});
