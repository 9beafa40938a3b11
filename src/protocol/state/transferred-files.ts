import type { QuotedItem } from '../quoted-item.ts';
import type { FileSeen } from '../tool.ts';

interface KnownFiles {
  readonly filesRead: Map<string, FileSeen>;
  readonly knownFiles: Map<string, string | null>;
}

/** Files that a task was handed count as read. */
export function recordReadFiles(
  { filesRead, knownFiles }: KnownFiles,
  files: readonly FileSeen[],
): void {
  for (const seen of files) {
    filesRead.set(seen.path, seen);
    knownFiles.set(seen.path, seen.hash);
  }
}

/** The same for what a person laid beside their words. */
export function recordQuotedFiles(known: KnownFiles, enclosed: readonly QuotedItem[] = []): void {
  recordReadFiles(
    known,
    enclosed.flatMap(({ read = [] }) => read),
  );
}
