/**
 * The evaluation: `npm run eval -- --help`. The exit code is 0 when every planned run has been judged, whatever it
 * solved, 1 when some could not be, and 2 for wrong arguments.
 */
import { errorMessage, systemErrorCode, UsageError } from '../src/base/errors.ts';
import { evaluate } from './evaluate.ts';
import { readCommand, USAGE, type Command } from './options.ts';
import { compareDirectories, listTasks } from './print.ts';
import { validateTasks } from './validate.ts';

async function run(command: Command): Promise<number> {
  switch (command.kind) {
    case 'help':
      process.stdout.write(USAGE);
      return 0;
    case 'list':
      process.stdout.write(listTasks(command.selection));
      return 0;
    case 'compare':
      process.stdout.write(compareDirectories(command.first, command.second));
      return 0;
    case 'validate':
      return validateTasks(command.selection, command.jobs);
    case 'run':
      return evaluate(command);
  }
}

try {
  process.exitCode = await run(readCommand(process.argv.slice(2)));
} catch (thrown) {
  const isUsage = thrown instanceof UsageError;
  if (!isUsage && systemErrorCode(thrown) === undefined) throw thrown;
  process.stderr.write(`${errorMessage(thrown)}\n`);
  process.exitCode = isUsage ? 2 : 1;
}
