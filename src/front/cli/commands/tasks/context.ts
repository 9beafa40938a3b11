import { contextLines } from '../../../../api/index.ts';
import { TASK_VALUES } from '../../completion-values.ts';
import { printLines, printJsonDocument } from './print.ts';
import { defineTasksCommand } from './with-tasks.ts';

/** `muster tasks context` */
export const tasksContextCommand = defineTasksCommand({
  words: 'tasks context',
  summary: 'what a request of a task contained, by part, in tokens',
  operands: [{ name: 'ID', completes: TASK_VALUES }],
  flags: ['turn'],
  examples: ['muster tasks context 4f2k9x', 'muster tasks context 4f2k9x --turn 3'],
  parse: ({ operands: [id = ''], flags }) => ({ id, turn: flags.count('turn') }),
  run: async (tasks, { id, turn, json }) => {
    const context = await tasks.context(id, turn);
    if (json) printJsonDocument(context);
    else printLines(...contextLines(context));
  },
});
