import { UsageError } from '../../../base/errors.ts';
import { defineCommand } from '../command.ts';

/** `muster reset-terminal`: restores a terminal in which the terminal UI was killed. Reads no configuration. */
export const resetTerminalCommand = defineCommand({
  words: 'reset-terminal',
  summary: 'restore a terminal in which Muster was killed',
  operands: [],
  flags: [],
  examples: ['muster reset-terminal'],
  parse: () => ({}),
  run: async (_options, { out }) => {
    const { restoreTerminal } = await import('../../../sys/terminal-reset.ts');
    if (!restoreTerminal()) throw new UsageError('there is no terminal to restore here');
    out('The terminal is restored.\n');
    return 0;
  },
});
