import { resolve } from 'node:path';
import { loadStoredTasks, type Tasks } from '../../../../api/index.ts';
import type { Command, CommandArguments, CommandContext } from '../../command.ts';
import { printNotice } from '../../output.ts';
import { outputOptions, type DataOptions, type OutputOptions } from '../../run-options.ts';

interface OpenOptions extends DataOptions {
  /** Whether to create the data directory if it is missing. Default false. */
  readonly create?: boolean;
}

/** Opens the tasks of a data directory, calls `work` with them, and closes them. */
export async function withTasks<Result>(
  { dataDir, create = false }: OpenOptions,
  work: (tasks: Tasks) => Result | Promise<Result>,
): Promise<Result> {
  const { openTasks } = await loadStoredTasks();
  const tasks = openTasks({
    ...(dataDir === null ? {} : { dataDir: resolve(dataDir) }),
    create,
    onNotice: printNotice,
  });
  try {
    return await work(tasks);
  } finally {
    await tasks.close();
  }
}

interface TasksCommand<Options> extends Omit<Command, 'parse' | 'run'> {
  /** Whether to create the data directory if it is missing. Default false. */
  readonly create?: boolean;
  parse(args: CommandArguments): Options;
  /** Returns the exit code. Default 0. */
  run(
    tasks: Tasks,
    options: Options & OutputOptions,
    context: CommandContext,
  ): Promise<number | void> | number | void;
}

/** Defines a command that works on the tasks of a data directory, with `--json` and `--data-dir`. */
export function defineTasksCommand<Options>({
  create = false,
  flags,
  parse,
  run,
  ...spec
}: TasksCommand<Options>): Command<Options & OutputOptions> {
  return {
    ...spec,
    flags: [...flags, 'json', 'data-dir'],
    parse: (args) => ({ ...parse(args), ...outputOptions(args.flags) }),
    run: (options, context) =>
      withTasks({ dataDir: options.dataDir, create }, async (tasks) => {
        return (await run(tasks, options, context)) ?? 0;
      }),
  };
}
