import { expect, it } from 'vitest';
import { foldEvents } from '../../../src/protocol/state/fold.ts';
import { logOf, returned } from '../../report/logs.ts';

const line = (name: string) => JSON.stringify({ name, description: 'd', inputSchema: {} });

it('the found tools are at most fifty, and belong to servers', () => {
  const names = Array.from({ length: 60 }, (_, index) => `mcp__s__t${index}`);
  const lines = [...names, 'Bash'].map(line);
  const log = logOf('a', [[1, returned('s', 'ToolSearch', lines.join('\n'))]]);
  expect([...foldEvents(log).foundTools.keys()]).toEqual(names.slice(10));
});

it('a task that continues the conversation of its parent has the tools that this one found', () => {
  const [created, ...rest] = logOf('a', []);
  if (created?.type !== 'task.created') throw new Error('the log begins otherwise');
  const inherited = {
    task: 'p',
    seq: 3,
    agent: 'main',
    messages: [],
    known: [],
    foundTools: [line('mcp__s__one'), 'no tool'],
  };
  const log = [{ ...created, spec: { ...created.spec, inherited } }, ...rest];
  expect([...foldEvents(log).foundTools]).toEqual([['mcp__s__one', line('mcp__s__one')]]);
});
