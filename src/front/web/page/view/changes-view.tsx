import { plural } from '../../../../base/text.ts';
import type { DiffFile } from '../../wire.ts';
import { DiffLines } from './diff-lines.tsx';
import { LoadState } from './load-state.tsx';
import { useLoaded, usePage } from './page-context.ts';

/** The files that a task has changed. */
export function ChangesView({ id, progress }: { readonly id: string; readonly progress: string }) {
  const { store } = usePage();
  const loaded = useLoaded(id, progress, () => store.source.diff(id));
  if (loaded.kind !== 'loaded') return <LoadState state={loaded} />;
  const { files, hasLanded, note } = loaded.data;
  return (
    <div class="changes">
      <p class="soft">
        {files.length === 0
          ? 'The task has changed no files.'
          : `${plural(files.length, 'file')} changed.`}
        {hasLanded ? ' The changes have landed.' : ''}
      </p>
      {note !== null && <p class="note">{note}</p>}
      {files.map((file) => (
        <FileDiff key={file.path} file={file} />
      ))}
    </div>
  );
}

function FileDiff({ file }: { readonly file: DiffFile }) {
  const { path, from, kind, added, deleted, hunks, note } = file;
  return (
    <details class="file" open={hunks.length > 0 && added + deleted <= 400}>
      <summary>
        <span class="mono">{from === null ? path : `${from} → ${path}`}</span>
        <span class="soft">{kind}</span>
        {hunks.length > 0 && (
          <>
            <span class="plus">+{added}</span>
            <span class="minus">−{deleted}</span>
          </>
        )}
      </summary>
      {note !== null && <p class="note">{note}</p>}
      {hunks.length > 0 && <DiffLines label={`Changes of ${path}`} lines={listHunkLines(hunks)} />}
    </details>
  );
}

function listHunkLines(hunks: DiffFile['hunks']): readonly string[] {
  const all: string[] = [];
  for (const { oldStart, newStart, lines } of hunks) {
    all.push(`@@ line ${oldStart} → ${newStart} @@`, ...lines);
  }
  return all;
}
