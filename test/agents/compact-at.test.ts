import { expect, test } from 'vitest';
import { muster } from '../../src/agents/formats/vendors.ts';

async function read(value: string) {
  const text = `---\nname: a\ndescription: b\ncompact-at: ${value}\n---\nWork.\n`;
  const { items } = await muster.agents.read({ path: '/a.md', text, scope: 'user' });
  const [agent] = items;
  return { compactAt: agent?.compactAt, problems: agent?.problems.map(({ code }) => code) };
}

test.each([
  ['0.7', 0.7],
  ['70%', 0.7],
  ['24000', 24_000],
])('compact-at: %s', async (value, compactAt) => {
  expect(await read(value)).toEqual({ compactAt, problems: [] });
});

test.each(['0', '12', '150%', 'soon', '1500.5'])(
  'compact-at: %s is reported and has no effect',
  async (value) => {
    expect(await read(value)).toEqual({ compactAt: undefined, problems: ['invalid-compact-at'] });
  },
);
