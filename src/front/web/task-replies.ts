import type { Tasks } from '../../api/index.ts';
import { MusterError } from '../../base/errors.ts';
import { parseDiff } from './diff-files.ts';
import type { DiffReply, TaskReportReply } from './wire.ts';

/** The maximum length of the diff of one task, in UTF-16 units. */
const MAX_DIFF_LENGTH = 1_000_000;

/** Reads the report of a task without its children. */
export async function readReport(
  tasks: Pick<Tasks, 'state' | 'envelope' | 'boundedReport'>,
  id: string,
): Promise<TaskReportReply> {
  const envelope = tasks.envelope(tasks.state(id));
  const { rows } = await tasks.boundedReport(id, 1);
  const report = rows[0]?.report;
  if (!report) throw new MusterError('NOT_FOUND', `the log of task ${id} has lost its beginning`);
  return { envelope, report };
}

/** Reads the changes of a task, or the reason why they cannot be shown. */
export async function readDiff(tasks: Pick<Tasks, 'diff'>, id: string): Promise<DiffReply> {
  try {
    const { text, hasLanded, note } = await tasks.diff(id, MAX_DIFF_LENGTH);
    const { files, rest } = parseDiff(text);
    const notes = [note, rest].filter((each) => each !== null);
    return { files, hasLanded, note: notes.length === 0 ? null : notes.join('; ') };
  } catch (thrown) {
    if (!(thrown instanceof MusterError) || thrown.code === 'NOT_FOUND') throw thrown;
    return { files: [], hasLanded: false, note: thrown.message };
  }
}
