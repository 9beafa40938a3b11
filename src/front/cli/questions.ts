import { createInterface } from 'node:readline';
import { terminalText } from '../../base/terminal-text.ts';
import { printError } from '../../sys/print.ts';

/** A person at the terminal who is asked several things, one after the other. */
export interface Questions {
  /** What they type, without blanks around it; null: they end it (Ctrl+D). Ctrl+C ends the process. */
  ask(question: string): Promise<string | null>;
  close(): void;
}

/** Null: there is no terminal to ask on. */
export function terminalQuestions(): (() => Questions) | null {
  const { stdin, stderr } = process;
  if (stdin.isTTY !== true || stderr.isTTY !== true) return null;
  return () => {
    const lines = createInterface({ input: stdin, output: stderr });
    let isOver = false;
    lines.once('close', () => {
      isOver = true;
    });
    lines.on('SIGINT', () => {
      // Closed first: it gives the terminal back as it was.
      lines.close();
      printError('\n');
      process.kill(process.pid, 'SIGINT');
    });
    // Of several lines that are pasted at once, each answers one question.
    const answers = lines[Symbol.asyncIterator]();
    return {
      async ask(question) {
        // Typed ahead, the end comes before the question, and the answers before it still count.
        if (!isOver) {
          lines.setPrompt(terminalText(question, 'exact'));
          lines.prompt();
        }
        const answer = await answers.next();
        if (answer.done !== true) return answer.value.trim();
        printError('\n');
        return null;
      },
      close: () => lines.close(),
    };
  };
}
