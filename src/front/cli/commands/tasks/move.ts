import type { Tasks } from '../../../../api/index.ts';
import { UsageError } from '../../../../base/errors.ts';
import { plural } from '../../../../base/text.ts';
import { fileError } from '../../../../sys/file-errors.ts';
import { namedFileChunks } from '../../../../sys/named-file.ts';
import { PRIVATE, writeNewFile } from '../new-file.ts';
import { printJson, printLines, printPieces } from './print.ts';
import { absolutePath } from '../../../../sys/paths.ts';

interface TaskExport {
  readonly id: string;
  /** The file to write; null or `-` for stdout. */
  readonly file: string | null;
  readonly force: boolean;
  readonly json: boolean;
}

/** `muster tasks export`. The file is there whole or not at all, and only its user reads it. */
export async function exportTask(
  tasks: Tasks,
  { id, file, force, json }: TaskExport,
): Promise<number> {
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
  const path = absolutePath(file, process.cwd());
  const bytes = await writeNewFile({ path, force, mode: PRIVATE }, pieces);
  if (json) printJson({ task_id: spec.id, file: path, bytes });
  else printLines(`task ${spec.id} is in ${path} (${plural(bytes, 'byte')})`);
  return 0;
}

/** `muster tasks import`: prints the ids, the top first. */
export async function importTasks(
  tasks: Tasks,
  { file, json }: { readonly file: string; readonly json: boolean },
): Promise<number> {
  if (file === '-' && process.stdin.isTTY === true) {
    throw new UsageError('nothing is piped in: muster tasks import FILE');
  }
  const ids = await tasks.importTree(textOf(file));
  if (json) printJson({ task_ids: ids });
  else printLines(...ids);
  return 0;
}

async function* textOf(file: string): AsyncGenerator<string, void, undefined> {
  const chunks = file === '-' ? stdinChunks() : namedFileChunks(absolutePath(file, process.cwd()));
  // A character may be cut between two chunks.
  const decoder = new TextDecoder();
  for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

async function* stdinChunks(): AsyncGenerator<Buffer, void, undefined> {
  try {
    for await (const chunk of process.stdin) yield Buffer.from(chunk);
  } catch (thrown) {
    throw fileError('stdin', thrown);
  }
}
