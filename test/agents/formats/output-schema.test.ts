import { expect, it } from 'vitest';
import { muster } from '../../../src/agents/formats/vendors.ts';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import { writeAgent } from '../../../src/agents/write-agent.ts';

async function read(text: string): Promise<AgentDefinition> {
  const path = '/a/counter.md';
  const { items } = await muster.agents.read({ path, text, scope: 'user' });
  const [agent] = items;
  if (agent === undefined) throw new Error('no agent');
  return agent;
}

const withField = (value: string) =>
  read(`---\nname: counter\ndescription: Counts files.\n${value}\n---\nCount.\n`);

const SCHEMA = { type: 'object', required: ['total'] };

it.each([
  ['a map', 'output-schema: {type: object, required: [total]}'],
  ['a map of several lines', 'output_schema:\n  type: object\n  required:\n    - total'],
  ['JSON text', `outputSchema: '${JSON.stringify(SCHEMA)}'`],
])('an output schema is read from %s', async (_, field) => {
  const { outputSchema, problems, extra } = await withField(field);
  expect({ outputSchema, problems, extra }).toEqual({
    outputSchema: SCHEMA,
    problems: [],
    extra: {},
  });
});

it.each(['output-schema: total', 'output-schema: [total]', 'output-schema: 5'])(
  '%s is reported and has no effect',
  async (field) => {
    const { outputSchema, problems } = await withField(field);
    expect([outputSchema, problems.map(({ code, line }) => [code, line])]).toEqual([
      undefined,
      [['invalid-output-schema', 4]],
    ]);
  },
);

it('an output schema is the same after writing and reading', async () => {
  const agent = await withField('output-schema: {type: object, required: [total]}');
  const { text, leftOut } = await writeAgent(agent);
  expect([(await read(text)).outputSchema, leftOut]).toEqual([SCHEMA, []]);
});
