import {
  errorMessage,
  MusterError,
  systemErrorCode,
  unreachable,
  UsageError,
} from '../../base/errors.ts';
import { VERSION } from '../../base/version.ts';
import { parseArgs } from './args.ts';
import type { Command } from './command.ts';
import { readEnvironment } from '../../sys/env.ts';
import { printError, printText } from '../../sys/print.ts';
import { runPrompt } from './commands/run.ts';
import { watchOutput } from './output-errors.ts';
import { redactFor } from '../../api/setup/secrets.ts';

export { tuneCompilersSoon } from './tune-compilers.ts';

/** Runs one command line. Sets the exit code; never throws. */
export async function main(argv: readonly string[]): Promise<void> {
  watchOutput();
  try {
    process.exitCode = await runCommand(parseArgs(argv));
  } catch (thrown) {
    process.exitCode = tellError(thrown);
  }
}

async function runCommand(command: Command): Promise<number> {
  switch (command.kind) {
    case 'run':
      return runPrompt(command);
    case 'interactive':
      return (await import('./commands/interactive.ts')).interactiveCommand(command);
    case 'help':
      printText((await import('./help.ts')).helpText(command.topic));
      return 0;
    case 'version':
      printText(`${VERSION}\n`);
      return 0;
    case 'agents-list':
    case 'agents-show':
    case 'agents-check':
    case 'agents-explain':
    case 'agents-new':
    case 'agents-import':
      return (await import('./commands/agents/agents.ts')).agentsCommand(command, await context());
    case 'skills-list':
    case 'skills-check':
      return (await import('./commands/skills.ts')).skillsCommand(command);
    case 'tasks-send':
    case 'tasks-resume':
      return (await import('./commands/tasks/message.ts')).messageCommand(command);
    case 'tasks-answer':
      return (await import('./commands/tasks/answer.ts')).answerCommand(command);
    case 'tasks-branch':
      return runPrompt(command.run, Promise.resolve(command.run.prompt));
    case 'tasks-list':
    case 'tasks-show':
    case 'tasks-log':
    case 'tasks-context':
    case 'tasks-watch':
    case 'tasks-stop':
    case 'tasks-background':
    case 'tasks-rerun':
    case 'tasks-rewind':
    case 'tasks-export':
    case 'tasks-import':
    case 'tasks-delete':
    case 'tasks-prune':
      return (await import('./commands/tasks/tasks.ts')).tasksCommand(command);
    case 'run-template':
      return (await import('./commands/templates/run.ts')).templateCommand(command);
    case 'usage':
      return (await import('./commands/usage.ts')).usageCommand(command);
    case 'trust-list':
    case 'trust-add':
    case 'trust-revoke':
      return (await import('./commands/trust/trust.ts')).trustCommand(command, await context());
    case 'models':
      return (await import('./commands/models.ts')).runModels(command, await context());
    case 'config-show':
      return (await import('./commands/config-show.ts')).runConfigShow(command, await context());
    case 'sandbox':
      return (await import('./commands/sandbox.ts')).sandboxCommand(command, await context());
    case 'completion':
      return (await import('./commands/completion/completion.ts')).completionCommand(command);
    case 'schema':
      return (await import('./commands/schema.ts')).schemaCommand(command);
    case 'doctor':
      return (await import('./commands/doctor/doctor.ts')).runDoctor(command, await context());
    default:
      return unreachable(command);
  }
}

async function context() {
  return (await import('./commands/process-context.ts')).processContext();
}

/** One clear line; a stack trace only for what is a bug of ours. */
function tellError(thrown: unknown): number {
  if (isLostDirectory(thrown)) {
    printError('muster: the current directory is not there any more; go to another one\n');
    return 2;
  }
  const known = thrown instanceof MusterError;
  const lines = known ? toldError(thrown) : stackOf(thrown);
  const told = redactFor(readEnvironment())(lines);
  printError(`muster: ${told.replaceAll('\n', '\nmuster: ')}\n`);
  return thrown instanceof UsageError ? 2 : 1;
}

/** What is wrong with the command line or a setting has no code but the exit code. */
function toldError(error: MusterError): string {
  return error instanceof UsageError ? error.message : `${error.code}: ${error.message}`;
}

/** Every path of a command counts from it, so it is looked for in many places. */
function isLostDirectory(thrown: unknown): boolean {
  return (
    systemErrorCode(thrown) === 'ENOENT' &&
    thrown instanceof Error &&
    'syscall' in thrown &&
    thrown.syscall === 'uv_cwd'
  );
}

function stackOf(thrown: unknown): string {
  const told = thrown instanceof Error ? (thrown.stack ?? thrown.message) : errorMessage(thrown);
  return `a bug in Muster; please report it with these lines:\n${told}`;
}
