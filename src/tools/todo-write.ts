import { NO_ACCESS } from '../protocol/permission.ts';
import type { TodoItem } from '../protocol/tool.ts';
import { defineBuiltinTool } from './shared/define-tool.ts';

export const todoWriteTool = defineBuiltinTool({
  name: 'TodoWrite',
  kind: 'meta',
  replay: 'pure',
  ownWords: true,
  description:
    'Keep the task list of a job with three or more steps. Each call replaces the whole list. Have one item in_progress at a time, and mark it completed as soon as it is done.',
  input: {
    type: 'object',
    properties: {
      todos: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            content: { type: 'string', minLength: 1 },
            status: { type: 'string', enum: ['pending', 'in_progress', 'completed'] },
          },
          required: ['content', 'status'],
          ignored: ['activeForm', 'id', 'priority'],
        },
      },
    },
    required: ['todos'],
    fixed: { merge: [false] },
  },
  aliases: {
    items: 'todos',
    tasks: 'todos',
    plan: 'todos',
    text: 'content',
    title: 'content',
    step: 'content',
    description: 'content',
    state: 'status',
  },
  describe: () => NO_ACCESS,
  async run({ todos }, context) {
    context.todos.set(todos);
    return { text: summarizeTodos(todos) };
  },
});

function summarizeTodos(todos: readonly TodoItem[]): string {
  if (todos.length === 0) return 'The todo list is empty now.';
  const count = (status: TodoItem['status']): number =>
    todos.filter((todo) => todo.status === status).length;
  return `Todo list: ${count('completed')} completed, ${count('in_progress')} in progress, ${count('pending')} pending.`;
}
