import { expect, it } from 'vitest';
import { findDueHooks, matchConditions } from '../../src/hooks/due-hooks.ts';
import type { HookCondition, HookMatch } from '../../src/protocol/hook.ts';
import { makeOccasion, readTestHooks } from './samples.ts';

const command = (line: string, rule?: string) => ({
  type: 'command',
  command: line,
  ...(rule === undefined ? {} : { if: rule }),
});

/** Reads hooks of one command each, by matcher. */
function readGroups(...groups: readonly (readonly [string, string, string?])[]) {
  const PreToolUse = groups.map(([matcher, line, rule]) => ({
    matcher,
    hooks: [command(line, rule)],
  }));
  return readTestHooks({ PreToolUse }).hooks;
}

/** Finds the hooks that run, with their matches, if conditions match a call as `matches` says. */
async function findDue(
  hooks: ReturnType<typeof readGroups>,
  matches: Readonly<Record<string, HookMatch>>,
) {
  const asked: string[] = [];
  const occasion = makeOccasion({
    matched: 'Edit',
    matchCondition: ({ text }: HookCondition) => {
      asked.push(text);
      return Promise.resolve(matches[text] ?? 'no');
    },
  });
  const due = findDueHooks(hooks, occasion, await matchConditions(hooks, occasion));
  return {
    asked,
    due: due.map(({ hook: { action }, match }) => [
      action.kind === 'command' ? action.command : '',
      match,
    ]),
  };
}

it.each<[string, HookMatch, HookMatch | 'not at all']>([
  ['Edit', 'yes', 'yes'],
  ['Edit', 'loosely', 'loosely'],
  ['Edit', 'no', 'not at all'],
  ['NotebookEdit', 'yes', 'loosely'],
  ['NotebookEdit', 'loosely', 'loosely'],
  ['NotebookEdit', 'no', 'not at all'],
])(
  'with the matcher %s, a condition that matches %s makes a hook run %s',
  async (matcher, match, expected) => {
    const hooks = readGroups([matcher, 'a', 'Edit(x)']);
    expect((await findDue(hooks, { 'Edit(x)': match })).due).toEqual(
      expected === 'not at all' ? [] : [['a', expected]],
    );
  },
);

it('asks only about the conditions of hooks whose matcher covers the call', async () => {
  const hooks = readGroups(['Read', 'a', 'Read(x)'], ['Edit', 'b', 'Edit(y)'], ['Edit', 'c']);
  expect(await findDue(hooks, { 'Edit(y)': 'yes' })).toEqual({
    asked: ['Edit(y)'],
    due: [
      ['b', 'yes'],
      ['c', 'yes'],
    ],
  });
});

it('runs equal hooks once if several of their conditions match', async () => {
  const hooks = readGroups(['', 'a', 'Edit(x)'], ['', 'a', 'Edit(y)'], ['', 'a', 'Edit(z)']);
  expect((await findDue(hooks, { 'Edit(y)': 'loosely', 'Edit(z)': 'yes' })).due).toEqual([
    ['a', 'yes'],
  ]);
});

it('runs a hook with a condition loosely if nothing can be compared', () => {
  const hooks = readGroups(['', 'a', 'Edit(x)']);
  const due = findDueHooks(hooks, makeOccasion(), new Map());
  expect(due.map(({ match }) => match)).toEqual(['loosely']);
});
