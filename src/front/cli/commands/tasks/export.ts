import { UsageError } from '../../../../base/errors.ts';
import { plural } from '../../../../base/text.ts';
import { toAbsolutePath } from '../../../../sys/files/paths.ts';
import { defineCommand } from '../../command.ts';
import { outputOptions } from '../../run-options.ts';
import { FILES, TASK_VALUES } from '../../completion-values.ts';
import { PRIVATE, writeNewFile } from '../../new-file.ts';
import { printJsonDocument, printLines, printPieces } from './print.ts';
import { withTasks } from './with-tasks.ts';

/** `muster tasks export`. The file is written as a whole or not at all, and only its user can read it. */
export const tasksExportCommand = defineCommand({
  words: 'tasks export',
  summary: 'a task and all below it as one file, or on stdout',
  operands: [
    { name: 'ID', completes: TASK_VALUES },
    { name: '[FILE]', completes: FILES },
  ],
  flags: ['force', 'json', 'data-dir'],
  examples: [
    'muster tasks export 4f2k9x search.muster',
    'muster tasks export 4f2k9x | gzip > search.gz',
  ],
  parse: ({ operands: [id = '', file = null], flags }) => ({
    id,
    file,
    force: flags.has('force'),
    ...outputOptions(flags),
  }),
  run: ({ id, file, force, ...options }) =>
    withTasks(options, async (tasks) => {
      const { spec } = tasks.state(id);
      const pieces = tasks.exportTree(spec.id);
      if (file === null || file === '-') {
        if (process.stdout.isTTY === true) {
          throw new UsageError(
            `an export is for a file or a program, not for a terminal: muster tasks export ${id} FILE`,
          );
        }
        await printPieces(pieces);
        return 0;
      }
      const path = toAbsolutePath(file, process.cwd());
      const bytes = await writeNewFile({ path, force, mode: PRIVATE }, pieces);
      if (options.json) printJsonDocument({ task_id: spec.id, file: path, bytes });
      else printLines(`task ${spec.id} is in ${path} (${plural(bytes, 'byte')})`);
      return 0;
    }),
});
