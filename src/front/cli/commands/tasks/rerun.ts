import type { Tasks } from '../../../../api/index.ts';
import { plural } from '../../../../base/text.ts';
import { TASK_VALUES } from '../../completion-values.ts';
import { printJsonDocument, printLines } from './print.ts';
import { defineTasksCommand } from './with-tasks.ts';

/** `muster tasks rerun`: the exit code is 1 if a task differs from its log, or if a log cannot be read. */
export const tasksRerunCommand = defineTasksCommand({
  words: 'tasks rerun',
  summary: 'run a task again from its log, asking nobody, and compare',
  operands: [{ name: 'ID', completes: TASK_VALUES }],
  flags: [],
  examples: ['muster tasks rerun 4f2k9x'],
  parse: ({ operands: [id = ''] }) => ({ id }),
  run: async (tasks, { id, json }) => {
    const outcome = await tasks.rerun(id);
    const { lost } = outcome;
    const identical = lost.length === 0 && outcome.tasks.every((task) => task.difference === null);
    if (json) printJsonDocument({ identical, tasks: outcome.tasks, lost });
    else printOutcome(outcome);
    return identical ? 0 : 1;
  },
});

function printOutcome({ tasks, lost }: Awaited<ReturnType<Tasks['rerun']>>): void {
  for (const { task, agent, events, difference } of tasks) {
    if (difference === null) {
      printLines(`${task}  ${agent}: ${plural(events, 'event')}, identical`);
      continue;
    }
    const { seq, type, lines } = difference;
    printLines(`${task}  ${agent}: differs at event ${seq} of ${events} (${type ?? 'none'})`);
    printLines(...lines.map((line) => `    ${line}`));
  }
  for (const { task, because } of lost) printLines(`${task}  not rerun: ${because}`);
}
