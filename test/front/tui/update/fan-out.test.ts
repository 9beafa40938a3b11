import { expect, it } from 'vitest';
import { findFanOut } from '../../../../src/front/tui/update/fan-out.ts';
import type { TaskEvent } from '../../../../src/protocol/events/event.ts';
import type { JsonObject } from '../../../../src/base/json.ts';
import type { TemplateDefinition } from '../../../../src/protocol/template.ts';
import { taskSpec } from '../../../store/fixture-data.ts';
import { CONTEXT } from './fixtures.ts';

const template = (name: string, change: Partial<TemplateDefinition> = {}): TemplateDefinition => ({
  name,
  description: '',
  body: '{{item}}',
  scope: 'user',
  path: `/t/${name}.md`,
  problems: [],
  ...change,
});

const items = (count: number): readonly string[] => Array.from({ length: count }, String);
const run = (name: string, count: number): readonly [string, JsonObject] => [
  'RunTemplate',
  { template: name, items: items(count) },
];
const task = (agent: string): readonly [string, JsonObject] => ['Task', { subagent_type: agent }];

const { agents } = CONTEXT.library;
const templates = [
  template('Check', { agent: 'Explore' }),
  template('plain'),
  template('cheap', { agent: 'Explore', model: 'fast' }),
  template('same', { agent: 'Explore', model: 'inherit' }),
];

function plan(calls: readonly (readonly [string, JsonObject])[], parent: string | null = null) {
  const content = calls.map(([name, input], index) => ({
    type: 'tool_call' as const,
    id: `c${index}`,
    name,
    input,
  }));
  const event = {
    type: 'turn.ended',
    message: { role: 'assistant', content },
  } as never as TaskEvent;
  return findFanOut(event, { spec: taskSpec('mainmain', { parent }) }, { agents, templates });
}

it.each([
  ['a template', [run('check', 64)], { agent: 'Explore', count: 64 }],
  ['a template without an agent', [run('plain', 8)], { agent: 'general-purpose', count: 8 }],
  ['too few items', [run('check', 7)], null],
  ['two calls of it', [run('check', 4), run('Check', 4)], { agent: 'Explore', count: 8 }],
  [
    'a template and calls of Task',
    [run('check', 6), task('Explore'), task('Explore')],
    { count: 8 },
  ],
  ['a template with a model', [run('cheap', 20)], { agent: 'Explore', count: 20, model: null }],
  ['the model of the caller', [run('same', 20)], { model: expect.stringContaining('/') }],
  ['an unknown template', [run('other', 20)], null],
  ['a wrong input', [['RunTemplate', { template: 'check', items: 'all' }]], null],
] as const)('%s', (_, calls, expected) => {
  const planned = plan(calls);
  if (expected === null) expect(planned).toBeNull();
  else expect(planned).toMatchObject(expected);
});

it('a fan-out of a subagent is not estimated', () => {
  expect(plan([run('check', 64)], 'parent')).toBeNull();
});
