import { contextLines } from '../../../../api/index.ts';
import { printLines, printJsonDocument } from './print.ts';
import { defineCommand } from '../../command.ts';
import { outputOptions } from '../../run-options.ts';
import { TASK_VALUES } from '../../completion-values.ts';
import { withTasks } from './with-tasks.ts';

/** `muster tasks context` */
export const tasksContextCommand = defineCommand({
  words: 'tasks context',
  summary: 'what a request of a task contained, by part, in tokens',
  operands: [{ name: 'ID', completes: TASK_VALUES }],
  flags: ['turn', 'json', 'data-dir'],
  examples: ['muster tasks context 4f2k9x', 'muster tasks context 4f2k9x --turn 3'],
  parse: ({ operands: [id = ''], flags }) => ({
    id,
    turn: flags.count('turn'),
    ...outputOptions(flags),
  }),
  run: ({ id, turn, ...options }) =>
    withTasks(options, async (tasks) => {
      const context = await tasks.context(id, turn);
      if (options.json) printJsonDocument(context);
      else printLines(...contextLines(context));
      return 0;
    }),
});
