import { createInterface } from 'node:readline';
import { terminalText } from '../../base/terminal-text.ts';

/** A person at the terminal who is asked several things, one after the other. */
export interface Questions {
  /** What they type, without blanks around it; null: they end it (Ctrl+D). */
  ask(question: string): Promise<string | null>;
  close(): void;
}

/** Null: there is no terminal to ask on. */
export function terminalQuestions(): (() => Questions) | null {
  const { stdin, stderr } = process;
  if (stdin.isTTY !== true || stderr.isTTY !== true) return null;
  return () => {
    const lines = createInterface({ input: stdin, output: stderr });
    // Of several lines that are pasted at once, each answers one question.
    const answers = lines[Symbol.asyncIterator]();
    return {
      async ask(question) {
        lines.setPrompt(terminalText(question, 'exact'));
        lines.prompt();
        const answer = await answers.next();
        return answer.done === true ? null : answer.value.trim();
      },
      close: () => lines.close(),
    };
  };
}
