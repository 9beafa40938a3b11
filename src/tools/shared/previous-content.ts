import { closeSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ToolContext } from '../../protocol/tool.ts';
import { holdDirectory } from '../../sys/held-directory.ts';
import { openHeldFile, type OpenFile } from '../../sys/open-in-roots.ts';
import { fileChunks, sha256 } from '../../sys/read-file.ts';
import { isSecretPath } from '../../sys/secret-paths.ts';
import { MAX_EDIT_BYTES } from './file-content.ts';

/** A file as it was judged. */
interface KnownFile {
  /** Absolute, without links. */
  readonly real: string;
  /** The root that holds it. */
  readonly root: string;
  /** As `fileFingerprint` gives it. */
  readonly hash: string;
}

/**
 * Keeps what a file holds that is about to be deleted or replaced. One that is larger than what Edit can
 * replace is not kept, nor one that usually holds secrets (no copy of those is made), and one that holds
 * something else by now neither: whoever changes it sees that.
 */
export async function keepFormer(file: KnownFile, context: ToolContext): Promise<void> {
  if (context.keepFormer === undefined || isSecretPath(file.real)) return;
  const directory = holdDirectory(file.root, dirname(file.real));
  try {
    // Whether it may have other names was judged; what it holds is compared below.
    const judged = new Map([[file.real, { real: file.real, mayHaveOtherNames: true }]]);
    const opened = openHeldFile(directory, file.real, { roots: context.roots, judged });
    try {
      const bytes = await wholeOf(opened, context);
      if (bytes !== null && sha256(bytes) === file.hash) await context.keepFormer(bytes);
    } finally {
      closeSync(opened.fd);
    }
  } finally {
    directory.close();
  }
}

async function wholeOf(file: OpenFile, { signal }: ToolContext): Promise<Buffer | null> {
  if (file.stats.size > BigInt(MAX_EDIT_BYTES)) return null;
  const chunks: Buffer[] = [];
  for await (const chunk of fileChunks(file, signal)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** The permission bits of a file, for the record of its going. */
export function modeOf({ mode }: { readonly mode: bigint }): number {
  return Number(mode & 0o777n);
}
