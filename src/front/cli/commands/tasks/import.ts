import { UsageError } from '../../../../base/errors.ts';
import { toFileError } from '../../../../sys/files/file-errors.ts';
import { toAbsolutePath } from '../../../../sys/files/paths.ts';
import { defineCommand } from '../../command.ts';
import { outputOptions } from '../../run-options.ts';
import { FILES } from '../../completion-values.ts';
import { printJsonDocument, printLines } from './print.ts';
import { withTasks } from './with-tasks.ts';

/** `muster tasks import`: prints the ids of the tasks, the top one first. */
export const tasksImportCommand = defineCommand({
  words: 'tasks import',
  summary: 'import the tasks of an exported file, or (-) of stdin',
  operands: [{ name: 'FILE', completes: FILES }],
  flags: ['json', 'data-dir'],
  examples: ['muster tasks import search.muster', 'gunzip < search.gz | muster tasks import -'],
  parse: ({ operands: [file = ''], flags }) => ({ file, ...outputOptions(flags) }),
  run: ({ file, ...options }) =>
    withTasks({ ...options, create: true }, async (tasks) => {
      if (file === '-' && process.stdin.isTTY === true) {
        throw new UsageError('nothing is piped in: muster tasks import FILE');
      }
      const ids = await tasks.importTree(textOf(file));
      if (options.json) printJsonDocument({ task_ids: ids });
      else printLines(...ids);
      return 0;
    }),
});

async function* textOf(file: string): AsyncGenerator<string, void, undefined> {
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
