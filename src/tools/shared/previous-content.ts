import { closeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ToolContext } from '../../protocol/tool.ts';
import { holdDirectory } from '../../sys/files/held-directory.ts';
import { openHeldFile } from '../../sys/files/open-in-roots.ts';
import { hashContent } from '../../sys/files/read-file.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';
import { MAX_EDIT_BYTES, readOpenFile } from './file-content.ts';

/** A file that is about to be deleted or replaced, in the version that the permission decision was about. */
interface ReplacedFile {
  /** Absolute, without links. */
  readonly real: string;
  /** The root directory that contains it. */
  readonly root: string;
  /** The hash from `fileFingerprint`. */
  readonly hash: string;
}

/**
 * Saves the content of a file that is about to be deleted or replaced. Not saved are files larger than Edit can
 * replace, files that usually hold secrets, of which no copies are made, and files whose content has changed: the code
 * that deletes or replaces them detects that.
 */
export async function savePreviousContent(file: ReplacedFile, context: ToolContext): Promise<void> {
  if (context.keepFormer === undefined || isSecretPath(file.real)) return;
  const directory = holdDirectory(file.root, dirname(file.real));
  try {
    // The permission decision covered its other names (hard links); its content is compared below.
    const judged = new Map([[file.real, { real: file.real, mayHaveOtherNames: true }]]);
    const opened = openHeldFile(directory, file.real, { roots: context.roots, judged });
    try {
      const bytes = await readOpenFile(opened, MAX_EDIT_BYTES, context.signal);
      if (bytes !== null && hashContent(bytes) === file.hash) await context.keepFormer(bytes);
    } finally {
      closeSync(opened.fd);
    }
  } finally {
    directory.close();
  }
}

/** Returns the permission bits of a file, for the record of its deletion. */
export function permissionBits({ mode }: { readonly mode: bigint }): number {
  return Number(mode & 0o777n);
}
