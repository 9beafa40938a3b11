import { defineCommand } from '../../command.ts';
import { outputOptions } from '../../run-options.ts';
import { TASKS_AT_WORK } from '../../completion-values.ts';
import { printJsonDocument, printLines } from './print.ts';
import { withTasks } from './with-tasks.ts';

/** `muster tasks stop`: waits until the task has ended. A task that had ended before is no error. */
export const tasksStopCommand = defineCommand({
  words: 'tasks stop',
  summary: 'stop a task and all below it; what it found is kept',
  operands: [{ name: 'ID', completes: TASKS_AT_WORK }],
  flags: ['because', 'json', 'data-dir'],
  examples: ['muster tasks stop 4f2k9x --because "it looks in the wrong place"'],
  parse: ({ operands: [id = ''], flags }) => ({
    id,
    because: flags.text('because'),
    ...outputOptions(flags),
  }),
  run: (options) =>
    withTasks(options, async (tasks) => {
      const { id, because, json } = options;
      const { hadEnded, id: found, state } = await tasks.stop(id, because ?? 'the user stopped it');
      const { status, end } = state;
      const reason = end?.because ?? null;
      if (json) {
        const endedBy = end?.by ?? null;
        printJsonDocument({
          task_id: found,
          had_ended: hadEnded,
          status,
          ended_by: endedBy,
          because: reason,
        });
      } else {
        const had = hadEnded ? ' had ended before' : '';
        printLines(`task ${found}${had}: ${status}: ${reason ?? ''}`);
      }
      return 0;
    }),
});
