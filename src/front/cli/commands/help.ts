import { defineCommand } from '../command.ts';

/** `muster help`, and `--help` of any command. */
export const helpCommand = defineCommand({
  words: 'help',
  summary: 'help for a command',
  operands: [{ name: '[COMMAND…]' }],
  flags: [],
  examples: ['muster help tasks show'],
  parse: ({ operands }) => ({ words: operands }),
  run: async ({ words }, { commands, out }) => {
    const { helpText, helpWidth } = await import('../help.ts');
    out(helpText(words, await commands(), helpWidth(process.stdout.columns)));
    return 0;
  },
});
