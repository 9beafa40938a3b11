import { expect, test } from 'vitest';
import { makeWorkspace } from './workspace.ts';

test('TodoWrite replaces the full list', async () => {
  const at = makeWorkspace();
  const todos = [
    { content: 'look', status: 'completed' },
    { content: 'build', status: 'in_progress' },
    { content: 'test', status: 'pending' },
  ];
  expect(await at.call('TodoWrite', { todos })).toEqual({
    text: 'Todo list: 1 completed, 1 in progress, 1 pending.',
  });
  expect(at.context.todos.get()).toEqual(todos);
  expect(await at.call('TodoWrite', { todos: [] })).toEqual({
    text: 'The todo list is empty now.',
  });
  expect(at.context.todos.get()).toEqual([]);
});
