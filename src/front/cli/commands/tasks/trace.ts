import { plural } from '../../../../base/text.ts';
import { TASK_VALUES } from '../../completion-values.ts';
import { printJsonDocument, printLines } from './print.ts';
import { defineTasksCommand } from './with-tasks.ts';

/** `muster tasks trace`: prints or sends the OpenTelemetry spans of a task and of all tasks below it. */
export const tasksTraceCommand = defineTasksCommand({
  words: 'tasks trace',
  summary: 'the OpenTelemetry spans of a task and all below it, as OTLP in JSON',
  operands: [{ name: 'ID', completes: TASK_VALUES }],
  flags: ['send'],
  examples: ['muster tasks trace 4f2k9x', 'muster tasks trace 4f2k9x --send'],
  parse: ({ operands: [id = ''], flags }) => ({ id, send: flags.has('send') }),
  run: async (tasks, { id, send, json }) => {
    if (!send) {
      printJsonDocument(await tasks.trace(id));
      return;
    }
    const { spans, to } = await tasks.sendTrace(id);
    if (json) printJsonDocument({ spans, to });
    else printLines(`${plural(spans, 'span')} sent to ${to}`);
  },
});
