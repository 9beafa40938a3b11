import { UsageError } from '../../../../base/errors.ts';
import { defineCommand } from '../../command.ts';
import { TASK_VALUES } from '../../completion-values.ts';
import { continuedRun, MESSAGE_FLAGS } from './message.ts';

/** `muster tasks branch` */
export const tasksBranchCommand = defineCommand({
  words: 'tasks branch',
  summary: 'continue a task from one of its events, in a new task',
  operands: [{ name: 'ID', completes: TASK_VALUES }],
  flags: ['at', 'prompt', ...MESSAGE_FLAGS],
  flagDetails: { prompt: { help: 'the next message' } },
  examples: [
    'muster tasks branch 4f2k9x --at 17 --model powerful',
    'muster tasks branch 4f2k9x --at 17 --prompt "Try it without a lock"',
  ],
  parse: ({ operands: [id = ''], flags }) => {
    const branchAt = flags.count('at', 0);
    if (branchAt === null) {
      throw new UsageError(
        `at which event? muster tasks branch ${id} --at N; muster tasks log ${id} shows them`,
      );
    }
    const run = continuedRun(id, flags.text('prompt'), flags);
    return {
      dataDir: run.dataDir,
      run: { ...run, resume: { id, branchAt }, readsStdin: false },
    };
  },
  run: async ({ run }) => {
    const { runPrompt } = await import('../../run-prompt.ts');
    return runPrompt(run, Promise.resolve(run.prompt));
  },
});
