import { defineCommand } from '../../command.ts';
import { outputOptions } from '../../run-options.ts';
import { TASKS_AT_WORK } from '../../completion-values.ts';
import { printProcessReport } from './print.ts';
import { withTasks } from './with-tasks.ts';

/** `muster tasks background` */
export const tasksBackgroundCommand = defineCommand({
  words: 'tasks background',
  summary: 'let the parent of a task at work continue without waiting for it',
  operands: [{ name: 'ID', completes: TASKS_AT_WORK }],
  flags: ['json', 'data-dir'],
  examples: ['muster tasks background 4f2k9x'],
  parse: ({ operands: [id = ''], flags }) => ({ id, ...outputOptions(flags) }),
  run: ({ id, ...options }) =>
    withTasks(options, async (tasks) => {
      printProcessReport(await tasks.detach(id), options);
      return 0;
    }),
});
