import { UsageError } from '../../../base/errors.ts';
import { COMPLETED_SHELLS } from '../completion-values.ts';
import { defineCommand } from '../command.ts';
import { quoteValue } from '../../../config/message-text.ts';

/** `muster completion`: prints the script for a shell; with words, prints the completions of the last word. */
export const completionCommand = defineCommand({
  words: 'completion',
  summary: 'the script that lets a shell complete: bash, zsh or fish; with words, the next one',
  operands: [{ name: 'SHELL', completes: { words: COMPLETED_SHELLS } }, { name: '[WORD…]' }],
  flags: [],
  examples: [
    'eval "$(muster completion bash)"',
    'muster completion fish > ~/.config/fish/completions/muster.fish',
    'muster completion bash -- tasks s',
  ],
  parse: ({ operands: [name = '', ...words] }) => {
    const shell = COMPLETED_SHELLS.find((each) => each === name);
    if (shell === undefined) {
      throw new UsageError(
        `no completion for ${quoteValue(name)}; valid: ${COMPLETED_SHELLS.join(', ')}`,
      );
    }
    return { shell, words: words.length === 0 ? null : words };
  },
  run: async ({ shell, words }, { commands, out }) => {
    const { completionScript, offerText, typedWords } = await import('./completion/shells.ts');
    if (words === null) {
      out(completionScript(shell));
      return 0;
    }
    const { completionOffer } = await import('./completion/candidates.ts');
    const offer = await completionOffer(typedWords(shell, words), {
      commands: await commands(),
      // zsh and fish match by themselves, because their users configure how: ignoring case, or by parts of words.
      matching: shell === 'bash' ? 'prefix' : 'by shell',
    });
    out(offerText(shell, offer));
    return 0;
  },
});
