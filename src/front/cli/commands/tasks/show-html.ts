import { resolve } from 'node:path';
import type { Tasks } from '../../../../api/index.ts';
import { UsageError } from '../../../../base/errors.ts';
import { plural } from '../../../../base/text.ts';
import { printJson, printLines, printPieces } from './print.ts';
import { checkNewFile, PRIVATE, writeNewFile } from '../new-file.ts';

interface PageWish {
  readonly id: string;
  /** `-`: stdout. */
  readonly file: string;
  readonly force: boolean;
  readonly json: boolean;
}

/** `muster tasks show --html`. The file is there whole or not at all, and only its user reads it. */
export async function writePage(
  tasks: Tasks,
  { id, file, force, json }: PageWish,
): Promise<number> {
  const page = { path: resolve(file), force, mode: PRIVATE };
  if (file === '-') refuseTerminal(id, { json });
  else checkNewFile(page);
  const { treePage } = await import('../../../html/page.ts');
  const { EventLines } = await import('../../../html/event-lines.ts');
  const lines = new EventLines();
  const tree = await tasks.report(id, lines.add);
  const pieces = treePage(tree, lines);
  if (file === '-') {
    await printPieces(pieces);
    return 0;
  }
  const { path } = page;
  const bytes = await writeNewFile(page, pieces);
  const task = tree.rows[0]?.id ?? id;
  if (json) printJson({ task_id: task, file: path, bytes });
  else printLines(`task ${task} is in ${path} (${plural(bytes, 'byte')})`);
  return 0;
}

function refuseTerminal(id: string, { json }: { readonly json: boolean }): void {
  if (json) throw new UsageError('--json does not go with --html -: both are for stdout');
  if (process.stdout.isTTY === true) {
    throw new UsageError(
      `a page is for a file or a program, not for a terminal: muster tasks show ${id} --html FILE`,
    );
  }
}
