import { defineReportCommand } from '../command.ts';
import { configOptions, PROJECT_FLAGS } from '../run-options.ts';

/** `muster doctor`: runs all checks, even if a check fails. The exit code is then 1. */
export const doctorCommand = defineReportCommand({
  words: 'doctor',
  summary: 'check that everything a run needs is there',
  operands: [],
  flags: ['json', 'model', 'fallback-model', 'sandbox', ...PROJECT_FLAGS, 'data-dir'],
  examples: ['muster doctor', 'muster doctor --sandbox container'],
  parse: ({ flags }) => ({ json: flags.has('json'), ...configOptions(flags) }),
  run: async (options, context) => {
    const { checkMachine, processProbes } = await import('./doctor/checks.ts');
    return checkMachine(options, context, processProbes(context));
  },
});
