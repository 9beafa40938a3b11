import { lstatSync, readlinkSync } from 'node:fs';
import { relative } from 'node:path';
import { committedFiles, type StoredFile } from '../git/committed-files.ts';
import { objectId } from '../git/object-reader.ts';
import { readGitFile } from '../git/read-git-file.ts';
import { isInside } from '../paths.ts';
import type { TipsBefore, TrustedTips } from './trusted-tips.ts';

const MAX_BYTES = 8 * 1024 * 1024;
const EXECUTABLE = 0o100;

/** Which of the files (absolute) have the content of a commit that the user or a remote has made. */
export async function committedAmong(
  paths: readonly string[],
  begun: readonly TipsBefore[],
  { tips, git }: { readonly tips: TrustedTips; readonly git: string },
): Promise<ReadonlySet<string>> {
  const committed = new Set<string>();
  for (const before of begun) {
    const trusted = tips.trustedNow(before);
    const idLength = [...trusted][0]?.length ?? 40;
    const { top } = before.repository;
    const pathOf = new Map<StoredFile, string>();
    for (const path of paths) {
      const stored = isInside(top, path) ? storedFile(path, top, idLength) : undefined;
      if (stored !== undefined) pathOf.set(stored, path);
    }
    const found = await committedFiles(before.repository, trusted, [...pathOf.keys()], { git });
    for (const file of found) committed.add(pathOf.get(file) ?? '');
  }
  return committed;
}

/** As git would store it, where no filter changes it. */
function storedFile(path: string, top: string, idLength: number): StoredFile | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  const stored = (mode: StoredFile['mode'], content: Buffer): StoredFile => ({
    path: relative(top, path),
    mode,
    id: objectId('blob', content, idLength),
  });
  if (stats?.isSymbolicLink() === true) {
    return stored('120000', readlinkSync(path, { encoding: 'buffer' }));
  }
  const content = stats?.isFile() === true ? readGitFile(path, MAX_BYTES) : null;
  if (!(content instanceof Buffer) || stats === undefined) return undefined;
  return stored((stats.mode & EXECUTABLE) === 0 ? '100644' : '100755', content);
}
