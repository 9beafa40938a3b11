import { UsageError } from '../../../../base/errors.ts';
import { formatTrajectory } from '../../../../report/atif-format.ts';
import { toFileError } from '../../../../sys/files/file-errors.ts';
import { toAbsolutePath } from '../../../../sys/files/paths.ts';
import { FILES, TASK_VALUES } from '../../completion-values.ts';
import { PRIVATE_MODE } from '../../new-file.ts';
import { printJsonDocument, printLines, printPieces, writeTaskFile } from './print.ts';
import { defineTasksCommand } from './with-tasks.ts';

const EXPORT_FORMATS = ['muster', 'atif'] as const;

/** `muster tasks export`. The file is written completely or not at all, and only its user can read it. */
export const tasksExportCommand = defineTasksCommand({
  words: 'tasks export',
  summary: 'a task and all below it as one file, or on stdout',
  operands: [
    { name: 'ID', completes: TASK_VALUES },
    { name: '[FILE]', completes: FILES },
  ],
  flags: ['format', 'force'],
  flagDetails: {
    format: {
      help: 'muster (which can be imported again; the default), or atif (trajectories of Harbor and Terminal-Bench)',
      completes: { words: EXPORT_FORMATS },
    },
  },
  examples: [
    'muster tasks export 4f2k9x search.muster',
    'muster tasks export 4f2k9x | gzip > search.gz',
    'muster tasks export 4f2k9x trajectory.json --format atif',
  ],
  parse: ({ operands: [id = '', file = null], flags }) => ({
    id,
    file,
    force: flags.has('force'),
    format: flags.choice('format', EXPORT_FORMATS, 'muster'),
  }),
  run: async (tasks, { id, file, force, format, json }) => {
    const task = tasks.state(id).spec.id;
    const pieces =
      format === 'atif'
        ? [`${formatTrajectory(await tasks.exportTrajectory(task))}\n`]
        : tasks.exportTree(task);
    if (file !== null && file !== '-') {
      const path = toAbsolutePath(file, process.cwd());
      await writeTaskFile({ path, force, mode: PRIVATE_MODE }, pieces, { task, json });
      return;
    }
    if (process.stdout.isTTY === true) {
      throw new UsageError(
        `an export is for a file or a program, not for a terminal: muster tasks export ${id} FILE`,
      );
    }
    await printPieces(pieces);
  },
});

/** `muster tasks import`: prints the ids of the tasks, the top one first. */
export const tasksImportCommand = defineTasksCommand({
  words: 'tasks import',
  summary: 'import the tasks of an exported file, or (-) of stdin',
  operands: [{ name: 'FILE', completes: FILES }],
  flags: [],
  create: true,
  examples: ['muster tasks import search.muster', 'gunzip < search.gz | muster tasks import -'],
  parse: ({ operands: [file = ''] }) => ({ file }),
  run: async (tasks, { file, json }) => {
    if (file === '-' && process.stdin.isTTY === true) {
      throw new UsageError('nothing is piped in: muster tasks import FILE');
    }
    const ids = await tasks.importTree(readText(file));
    if (json) printJsonDocument({ task_ids: ids });
    else printLines(...ids);
  },
});

async function* readText(file: string): AsyncGenerator<string, void, undefined> {
  const { readNamedFileChunks } = await import('../../../../sys/files/named-file.ts');
  const chunks =
    file === '-' ? stdinChunks() : readNamedFileChunks(toAbsolutePath(file, process.cwd()));
  // A character may be cut between two chunks.
  const decoder = new TextDecoder();
  for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

async function* stdinChunks(): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const chunk of process.stdin) yield Buffer.from(chunk);
  } catch (thrown) {
    throw toFileError('stdin', thrown);
  }
}
