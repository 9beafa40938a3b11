import { homedir } from 'node:os';
import { readEnvironment } from '../../sys/env.ts';
import { printError, printText } from '../../sys/print.ts';
import type { CommandContext, LoadCommands } from './command.ts';
import { terminalConfirm, terminalQuestions } from './terminal.ts';

/** Returns the context of a command that runs in this process. */
export function processContext(commands: LoadCommands): CommandContext {
  const environment = readEnvironment();
  return {
    out: (text) => printText(text),
    err: (text) => printError(text),
    environment,
    home: environment['HOME'] || homedir(),
    // Read when they are used: the directory may be gone, and looking at stdin opens it.
    get cwd() {
      return process.cwd();
    },
    get confirm() {
      return terminalConfirm();
    },
    get questions() {
      return terminalQuestions();
    },
    commands,
  };
}
