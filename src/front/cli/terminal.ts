import type { Interface } from 'node:readline';
import { sanitizeForTerminal } from '../../base/terminal-text.ts';
import { printError } from '../../sys/print.ts';

/** A person at the terminal who is asked several questions, one after the other. */
export interface Questions {
  /** Returns the typed text without blanks around it; null after Ctrl+D. Ctrl+C ends the process. */
  ask(question: string): Promise<string | null>;
  close(): void;
}

/** Returns a function that asks a person yes or no; null if there is no terminal. Every answer other than "y" or "yes" means no. */
export function terminalConfirm(): ((question: string) => Promise<boolean>) | null {
  if (!hasTerminal()) return null;
  return async (question) => {
    const { createInterface } = await import('node:readline/promises');
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    try {
      // The end of the input counts as an empty answer, which means no.
      const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
      const answer = await Promise.race([
        lines.question(sanitizeForTerminal(question, 'exact')),
        closed,
      ]);
      return /^y(es)?$/i.test(answer.trim());
    } finally {
      lines.close();
    }
  };
}

/** Returns a function that starts a series of questions; null if there is no terminal. */
export function terminalQuestions(): (() => Promise<Questions>) | null {
  if (!hasTerminal()) return null;
  return async () => {
    const { createInterface } = await import('node:readline');
    return questionsOn(createInterface({ input: process.stdin, output: process.stderr }));
  };
}

/** Asks a person for a secret. Returns the typed text without blanks around it; null after Ctrl+D. */
export type AskSecret = (question: string) => Promise<string | null>;

/** Returns a function that asks for a secret and shows nothing of what is typed; null if there is no terminal. */
export function terminalSecret(): AskSecret | null {
  if (!hasTerminal()) return null;
  return async (question) => {
    const [{ createInterface }, { Writable }] = await Promise.all([
      import('node:readline'),
      import('node:stream'),
    ]);
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    const lines = createInterface({
      input: process.stdin,
      output: nowhere,
      terminal: true,
      historySize: 0,
    });
    const showQuestion = (): void => printError(sanitizeForTerminal(question, 'exact'));
    // The process goes on after Ctrl+Z.
    lines.on('SIGCONT', () => {
      showQuestion();
      lines.resume();
    });
    const secret = questionsOn(lines);
    try {
      showQuestion();
      const answer = await secret.ask('');
      if (answer !== null) printError('\n');
      return answer;
    } finally {
      secret.close();
    }
  };
}

function questionsOn(lines: Interface): Questions {
  let isOver = false;
  lines.once('close', () => {
    isOver = true;
  });
  lines.on('SIGINT', () => {
    // Close the interface first, because this restores the terminal.
    lines.close();
    printError('\n');
    process.kill(process.pid, 'SIGINT');
  });
  // The iterator keeps all lines of a paste, so that each line answers one question.
  const answers = lines[Symbol.asyncIterator]();
  return {
    async ask(question) {
      // The input may have ended already. Answers that were typed before its end are still read below.
      if (!isOver) {
        lines.setPrompt(sanitizeForTerminal(question, 'exact'));
        lines.prompt();
      }
      const answer = await answers.next();
      if (answer.done !== true) return answer.value.trim();
      printError('\n');
      return null;
    },
    close: () => lines.close(),
  };
}

function hasTerminal(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}
