import { expect, it } from 'vitest';
import { muster } from '../../../src/agents/formats/vendors.ts';
import { readTemplate } from '../../../src/agents/templates/read-template.ts';
import { writeAgent } from '../../../src/agents/write-agent.ts';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';

const NONE = { commands: [], changed: [], unchanged: [], mayChange: [], maxChangedLines: null };

async function readAgent(fields: string): Promise<AgentDefinition> {
  const text = `---\nname: fixer\ndescription: Fixes.\n${fields}\n---\nFix.\n`;
  const { items } = await muster.agents.read({ path: '/a/fixer.md', text, scope: 'user' });
  const [agent] = items;
  if (agent === undefined) throw new Error('no agent');
  return agent;
}

it.each([
  ['accept: npm test', { ...NONE, commands: ['npm test'] }],
  ['accept: [make, make lint]', { ...NONE, commands: ['make', 'make lint'] }],
  [
    'accept:\n  commands: make\n  may_change: [go.mod]\n  max_changed_lines: 20',
    { ...NONE, commands: ['make'], mayChange: ['go.mod'], maxChangedLines: 20 },
  ],
])('the criteria %j of an agent are read, and written again', async (field, criteria) => {
  const agent = await readAgent(field);
  expect(agent).toMatchObject({ accept: criteria, problems: [] });
  const { text } = await writeAgent(agent);
  const again = await muster.agents.read({ path: '/a/fixer.md', text, scope: 'user' });
  expect(again.items[0]?.accept).toEqual(criteria);
});

it.each(['accept: {comands: make}', 'accept: 5', 'accept: {schema: {type: object}}'])(
  'with the unreadable criteria %s no work is accepted',
  async (field) => {
    const { accept, problems } = await readAgent(field);
    expect(accept?.commands).toHaveLength(1);
    expect(problems.map(({ code, line }) => [code, line])).toEqual([['invalid-accept', 4]]);
  },
);

it('the criteria of a template are read', async () => {
  const text = '---\nname: each\ndescription: Fixes.\naccept: make\n---\nFix {{item}}.\n';
  const { items } = await readTemplate({ path: '/a/each.md', text, scope: 'user' });
  expect(items[0]).toMatchObject({ accept: { ...NONE, commands: ['make'] }, problems: [] });
});

it.each([
  ['models: [fast, powerful]', { model: 'fast', models: ['fast', 'powerful'], problems: [] }],
  ['models: fast', { problems: [{ code: 'invalid-models' }] }],
])('%s names the models that take turns', async (field, expected) => {
  expect(await readAgent(field)).toMatchObject(expected);
});
