import { loadSecrets } from '../../api/index.ts';
import { errorMessage, MusterError, systemErrorCode, UsageError } from '../../base/errors.ts';
import { VERSION } from '../../base/version.ts';
import { homeDirectory, readEnvironment } from '../../sys/env.ts';
import { printError, printText } from '../../sys/print.ts';
import { excludeSecretsFromDumps } from '../../sys/processes/core-dumps.ts';
import type { Command, CommandContext } from './command.ts';
import { watchOutput } from './output.ts';
import { parseCommandLine } from './parse.ts';
import { terminalConfirm, terminalQuestions, terminalSecret } from './terminal.ts';

export { tuneCompilersSoon } from './tune-compilers.ts';

/** Runs one command line. Sets the exit code; never throws. */
export async function main(argv: readonly string[]): Promise<void> {
  excludeSecretsFromDumps();
  watchOutput();
  try {
    process.exitCode = await runCommandLine(argv);
  } catch (thrown) {
    process.exitCode = await reportError(thrown);
  }
}

async function runCommandLine(argv: readonly string[]): Promise<number> {
  const parsed = await parseCommandLine(argv, loadCommands);
  if (parsed === 'version') {
    printText(`${VERSION}\n`);
    return 0;
  }
  return parsed.command.run(parsed.options, processContext());
}

function processContext(): CommandContext {
  const environment = readEnvironment();
  return {
    out: (text) => printText(text),
    err: (text) => printError(text),
    environment,
    home: homeDirectory(environment),
    // These are read only when a command uses them: the directory may be gone, and a check of stdin opens it.
    get cwd() {
      return process.cwd();
    },
    get confirm() {
      return terminalConfirm();
    },
    get questions() {
      return terminalQuestions();
    },
    get secret() {
      return terminalSecret();
    },
    commands: loadCommands,
    help: async () => {
      const { helpText, helpWidth } = await import('./help.ts');
      return helpText([], await loadCommands(), helpWidth(process.stdout.columns));
    },
  };
}

async function loadCommands(): Promise<readonly Command[]> {
  return (await import('./commands.ts')).CLI_COMMANDS;
}

/** Prints one clear line, with a stack trace only for a bug of ours. Returns the exit code. */
async function reportError(thrown: unknown): Promise<number> {
  if (isMissingDirectory(thrown)) {
    printError('muster: the current directory does not exist any more; go to another one\n');
    return 2;
  }
  const { createEnvironmentRedactor } = await loadSecrets();
  const redact = createEnvironmentRedactor(readEnvironment());
  const text = redact(thrown instanceof MusterError ? describeError(thrown) : describeBug(thrown));
  printError(`muster: ${text.replaceAll('\n', '\nmuster: ')}\n`);
  return thrown instanceof UsageError ? 2 : 1;
}

/** Describes an error. The code of a UsageError is left out, because the exit code says the same. */
function describeError(error: MusterError): string {
  return error instanceof UsageError ? error.message : `${error.code}: ${error.message}`;
}

/** Whether an error says that the current directory is gone. Any code that resolves a relative path can throw it. */
function isMissingDirectory(thrown: unknown): boolean {
  return (
    systemErrorCode(thrown) === 'ENOENT' &&
    thrown instanceof Error &&
    'syscall' in thrown &&
    thrown.syscall === 'uv_cwd'
  );
}

function describeBug(thrown: unknown): string {
  const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : errorMessage(thrown);
  return `a bug in Muster; please report it with these lines:\n${stack}`;
}
