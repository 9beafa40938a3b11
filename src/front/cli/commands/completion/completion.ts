import { printText } from '../../../../sys/print.ts';
import type { CompletionCommand } from '../../completion-command.ts';
import { offerFor } from './candidates.ts';
import { completionScript, offerText } from './shells.ts';
import { typedWords } from './typed-words.ts';

/** `muster completion`: the script of a shell; with words, what could stand for the last of them. */
export async function completionCommand({ shell, words }: CompletionCommand): Promise<number> {
  if (words === null) {
    printText(completionScript(shell));
    return 0;
  }
  const offer = await offerFor(typedWords(shell, words), {
    // What fits, zsh and fish decide as their users have set them: case, parts of words.
    matching: shell === 'bash' ? 'prefix' : 'by shell',
  });
  printText(offerText(shell, offer));
  return 0;
}
