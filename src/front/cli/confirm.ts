import { createInterface } from 'node:readline/promises';
import { terminalText } from '../../base/terminal-text.ts';

/** Asks a person at the terminal; null where there is none. Anything but yes is no. */
export function terminalConfirm(): ((question: string) => Promise<boolean>) | null {
  const { stdin, stderr } = process;
  if (stdin.isTTY !== true || stderr.isTTY !== true) return null;
  return async (question) => {
    const lines = createInterface({ input: stdin, output: stderr });
    try {
      // The end of the input is an answer, too: no.
      const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
      const answer = await Promise.race([lines.question(terminalText(question, 'exact')), closed]);
      return /^y(es)?$/i.test(answer.trim());
    } finally {
      lines.close();
    }
  };
}
