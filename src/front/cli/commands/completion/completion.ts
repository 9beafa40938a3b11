import { printText } from '../../../../sys/print.ts';
import type { CompletionCommand } from '../../command.ts';
import { joinBashWords } from './bash-words.ts';
import { offerFor } from './candidates.ts';
import { completionScript, offerText } from './shells.ts';

/** `muster completion`: the script of a shell; with words, what could stand for the last of them. */
export async function completionCommand({ shell, words }: CompletionCommand): Promise<number> {
  if (words === null) {
    printText(completionScript(shell));
    return 0;
  }
  const { words: joined, kept } = shell === 'bash' ? joinBashWords(words) : { words, kept: 0 };
  printText(offerText(shell, await offerFor(joined), kept));
  return 0;
}
