import { expect, it } from 'vitest';
import { MAX_TOKENS_PER_CHARACTER } from '../../../src/base/token-estimate.ts';
import { estimateInput, firstRequest, maxFirstInput } from '../../../src/engine/limits/estimate.ts';
import type { RequestPrefix } from '../../../src/protocol/model.ts';

const EMPTY: RequestPrefix = { system: [], tools: [] };
const TOOL = {
  name: 'Read',
  description: 'Reads a file.',
  inputSchema: { type: 'object' },
} as const;

it('the bound for a first request counts every text and attachment of the request', () => {
  const prompt = { id: 'prompt', kind: 'prompt', from: '', text: 'Fix the parser.' } as const;
  const image = { kind: 'image', name: 'a.png', outcome: '', nonce: 'n', text: 'Shown.' } as const;
  const attachment = { type: 'image/png', bytes: 9, blob: 'b', tokens: 700 } as const;
  const quoted = { ...prompt, enclosed: [{ ...image, attachments: [attachment] }] };
  const bounds = [
    maxFirstInput({ queued: [] }, EMPTY),
    maxFirstInput({ queued: [] }, { system: ['You help.'], tools: [] }),
    maxFirstInput({ queued: [] }, { system: [], tools: [TOOL] }),
    maxFirstInput({ queued: [prompt] }, EMPTY),
    maxFirstInput({ queued: [quoted] }, EMPTY),
  ];
  const characters = [0, 9, JSON.stringify(TOOL).length, 15, 15 + 6];
  const attached = [0, 0, 0, 0, 700];
  expect(bounds).toEqual(
    characters.map((count, at) => count * MAX_TOKENS_PER_CHARACTER + (attached[at] ?? 0)),
  );
});

it('the bound for a first request is not below its estimate', () => {
  const request = firstRequest('Fix the parser, and tell me which tests failed before.');
  const prefix = { system: ['You help with code.'], tools: [TOOL] };
  expect(maxFirstInput(request, prefix)).toBeGreaterThan(estimateInput(request, prefix));
});
