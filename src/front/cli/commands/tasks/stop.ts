import { TASKS_AT_WORK } from '../../completion-values.ts';
import { printJsonDocument, printLines, printProcessReport } from './print.ts';
import { defineTasksCommand } from './with-tasks.ts';

/** `muster tasks stop`: waits until the task has ended. A task that had ended before is no error. */
export const tasksStopCommand = defineTasksCommand({
  words: 'tasks stop',
  summary: 'stop a task and all below it; what it found is kept',
  operands: [{ name: 'ID', completes: TASKS_AT_WORK }],
  flags: ['because'],
  examples: ['muster tasks stop 4f2k9x --because "it looks in the wrong place"'],
  parse: ({ operands: [id = ''], flags }) => ({ id, because: flags.text('because') }),
  run: async (tasks, { id, because: given, json }) => {
    const stopped = await tasks.stop(id, given ?? 'the user stopped it');
    const { hadEnded, id: task_id, state } = stopped;
    const { by: ended_by = null, because = null } = state.end ?? {};
    const { status } = state;
    if (json) printJsonDocument({ task_id, had_ended: hadEnded, status, ended_by, because });
    else {
      const had = hadEnded ? ' had ended before' : '';
      printLines(`task ${task_id}${had}: ${status}: ${because ?? ''}`);
    }
  },
});

/** `muster tasks background` */
export const tasksBackgroundCommand = defineTasksCommand({
  words: 'tasks background',
  summary: 'let the parent of a task at work continue without waiting for it',
  operands: [{ name: 'ID', completes: TASKS_AT_WORK }],
  flags: [],
  examples: ['muster tasks background 4f2k9x'],
  parse: ({ operands: [id = ''] }) => ({ id }),
  run: async (tasks, { id, json }) => printProcessReport(await tasks.detach(id), { json }),
});
