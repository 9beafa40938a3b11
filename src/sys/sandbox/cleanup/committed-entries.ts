import { relative } from 'node:path';
import { findCommittedFiles, type StoredFile } from '../../git/committed-files.ts';
import { hashGitObject } from '../../git/object-reader.ts';
import { isInside } from '../../files/paths.ts';
import type { EntryContent } from './file-content.ts';
import type { TipsAtStart, TrustedTips } from './trusted-tips.ts';

const EXECUTABLE = 0o100;

/**
 * Returns the paths of the files whose content and mode equal those in a commit that the user or a remote has
 * made.
 */
export async function selectCommitted(
  files: readonly EntryContent[],
  begun: readonly TipsAtStart[],
  { tips, git }: { readonly tips: TrustedTips; readonly git: string },
): Promise<ReadonlySet<string>> {
  const committed = new Set<string>();
  for (const before of begun) {
    const trusted = tips.trustedNow(before);
    const [first = ''] = trusted;
    const { top } = before.repository;
    const pathOf = new Map(
      files
        .filter(({ path }) => isInside(top, path) && !isOfGit(relative(top, path)))
        .map((file) => [storedFile(file, top, first.length), file.path] as const),
    );
    const found = await findCommittedFiles(before.repository, trusted, [...pathOf.keys()], { git });
    for (const file of found) committed.add(pathOf.get(file) ?? '');
  }
  return committed;
}

/**
 * Tells whether a path lies in a `.git` directory. Git never writes such a file from a commit, though a hostile
 * commit may contain one.
 */
function isOfGit(path: string): boolean {
  return path.split('/').some((name) => name.toLowerCase() === '.git');
}

/** Returns the file in the form in which git would store it, if no filter changes it. */
function storedFile(
  { path, kind, content, mode }: EntryContent,
  top: string,
  idLength: number,
): StoredFile {
  const plain = (mode & EXECUTABLE) === 0 ? '100644' : '100755';
  return {
    path: relative(top, path),
    mode: kind === 'link' ? '120000' : plain,
    id: hashGitObject('blob', content, idLength),
  };
}
