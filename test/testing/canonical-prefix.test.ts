import { expect, it } from 'vitest';
import { assertAppendOnly, canonicalPrefix } from '../../src/testing/index.ts';
import { fakeModel } from './support.ts';
import { requestOf } from './request-of.ts';

const MARK = { cache_control: { type: 'ephemeral' } };
const text = (value: string, mark = {}) => ({ type: 'text', text: value, ...mark });
const body = (
  messages: readonly { role: string; content: string | object[] }[],
  { system = 'stable', tool = 'Read' } = {},
) => ({
  tools: [{ name: tool, input_schema: {}, ...MARK }],
  system: [text(system, MARK)],
  messages,
});
const FIRST = body([{ role: 'user', content: [text('go', MARK)] }]);
const SECOND = body([
  { role: 'user', content: [text('go')] },
  { role: 'assistant', content: [text('going')] },
  { role: 'user', content: [text('on', MARK)] },
]);

function compare(earlier: object, later: object): () => void {
  const record = (value: object) => requestOf(JSON.parse(JSON.stringify(value)));
  return () => assertAppendOnly(record(earlier), record(later));
}

it('takes cache marks out and keeps everything else', () => {
  expect(
    canonicalPrefix({ protocol: 'anthropic', body: JSON.parse(JSON.stringify(FIRST)) }),
  ).toEqual({
    tools: ['{"name":"Read","input_schema":{}}'],
    system: ['{"role":"system","part":{"type":"text","text":"stable"}}'],
    messages: ['{"role":"user","part":{"type":"text","text":"go"}}'],
  });
});

it('holds for an equal or extended request', () => {
  expect(compare(FIRST, FIRST)).not.toThrow();
  expect(compare(FIRST, SECOND)).not.toThrow();
});

it('shows the first difference', () => {
  expect(compare(SECOND, FIRST)).toThrow(/messages of request 1 .*: number 1 is missing/);
  const changed = body([{ role: 'user', content: [text('gone')] }]);
  expect(compare(FIRST, changed)).toThrow(
    /number 0 differs at character 47:[^]*was .*go[^]*is .*gone/,
  );
  expect(compare(FIRST, body(FIRST.messages, { system: 'other' }))).toThrow(/^system of/);
  expect(compare(FIRST, body(FIRST.messages, { tool: 'Write' }))).toThrow(/^tools of/);
  const more = { ...FIRST, tools: [...FIRST.tools, { name: 'New' }] };
  expect(compare(FIRST, more)).toThrow(/tools of .*: 1 became 2/);
});

it.each([
  ['/v1/responses', 'input', { role: 'developer', content: 'sys' }],
  ['/v1/chat/completions', 'messages', { role: 'system', content: 'sys' }],
])('%s: system messages are not messages', async (path, field, system) => {
  const fake = await fakeModel();
  const user = { role: 'user', content: [text('go', { prompt_cache_breakpoint: {} })] };
  await fetch(`${fake.url}${path}`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', [field]: [system, user] }),
  });
  const request = await fake.received(1);
  expect(canonicalPrefix(request)).toEqual({
    tools: [],
    system: [JSON.stringify(system)],
    messages: ['{"role":"user","content":[{"type":"text","text":"go"}]}'],
  });
  expect(request.systemParts).toEqual(['sys']);
});

it('google: declarations, system parts and parts', () => {
  const request = {
    tools: [{ functionDeclarations: [{ name: 'Read' }] }],
    systemInstruction: { parts: [{ text: 'sys' }] },
    contents: [{ role: 'user', parts: [{ text: 'go' }] }],
  };
  expect(canonicalPrefix({ protocol: 'google', body: request })).toEqual({
    tools: ['{"name":"Read"}'],
    system: ['{"text":"sys"}'],
    messages: ['{"role":"user","part":{"text":"go"}}'],
  });
});
