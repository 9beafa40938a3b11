import { plural } from '../../base/text.ts';
import { formatLineNumbers } from '../shared/output.ts';
import { applyChunks } from './apply-chunks.ts';
import type { FilePatch } from '../../protocol/patch.ts';

/** The text of a file, and the line end that most of its lines have. */
export interface FileText {
  readonly text: string;
  readonly lineEnd: '\n' | '\r\n';
}

/** The new content of one path. */
export interface PatchedFile {
  /** The path as in the patch. */
  readonly path: string;
  /** The new text; null if the file is deleted. */
  readonly text: string | null;
  /** The path whose encoding the content gets: the path itself, or the one that the file was moved from. */
  readonly encodedLike: string;
}

/** The changes that a patch makes, or the first problem, with which it changes nothing. */
export type PatchPlan =
  | {
      readonly ok: true;
      readonly files: readonly PatchedFile[];
      readonly summary: readonly string[];
    }
  | { readonly ok: false; readonly problem: string };

/**
 * Applies a patch to files in memory. Each part sees what the parts before it did.
 *
 * @param files the files that exist, by the paths of the patch
 * @param show formats a path for messages
 */
export function planPatch(
  patch: readonly FilePatch[],
  files: ReadonlyMap<string, FileText>,
  show: (path: string) => string,
): PatchPlan {
  const present = new Map<string, FileText & { readonly encodedLike: string }>(
    [...files].map(([path, file]) => [path, { ...file, encodedLike: path }]),
  );
  const touched = new Set<string>();
  const summary: string[] = [];
  for (const part of patch) {
    const { path } = part;
    const shown = show(path);
    const fail = (problem: string, line = part.line): PatchPlan => ({
      ok: false,
      problem: `${shown} (line ${line} of the patch): ${problem}`,
    });
    const file = present.get(path);
    touched.add(path);
    if (part.kind === 'add') {
      if (file !== undefined) return fail('the file exists already: use "*** Update File:"');
      present.set(path, { text: part.content, lineEnd: '\n', encodedLike: path });
      summary.push(`A ${shown}`);
      continue;
    }
    if (file === undefined) return fail('there is no such file');
    if (part.kind === 'delete') {
      present.delete(path);
      summary.push(`D ${shown}`);
      continue;
    }
    const { moveTo = path, chunks } = part;
    if (moveTo !== path && present.has(moveTo)) return fail(`${show(moveTo)} exists already`);
    const applied = applyChunks(file.text, chunks, file.lineEnd);
    if (!applied.ok) return fail(applied.problem, applied.line);
    present.delete(path);
    present.set(moveTo, { ...file, text: applied.text });
    touched.add(moveTo);
    const moved = moveTo === path ? '' : ` to ${show(moveTo)}`;
    const where =
      chunks.length === 0
        ? ''
        : `: ${plural(chunks.length, 'change')} at ${formatLineNumbers(applied.lines)}`;
    const notes = applied.notes.map((note) => ` [${note}]`).join('');
    summary.push(`${moved === '' ? 'M' : 'R'} ${shown}${moved}${where}${notes}`);
  }
  const changed = [...touched].flatMap((path): PatchedFile[] => {
    const [before, after] = [files.get(path)?.text, present.get(path)];
    if (before === after?.text) return [];
    return [{ path, text: after?.text ?? null, encodedLike: after?.encodedLike ?? path }];
  });
  return { ok: true, files: changed, summary };
}
