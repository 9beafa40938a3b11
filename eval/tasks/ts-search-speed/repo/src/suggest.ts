import type { Documents } from './documents.ts';
import { words } from './words.ts';

/** Words that begin with the last word of what was typed: those in most documents first, then sorted. */
export function suggest(documents: Documents, typed: string, limit: number): string[] {
  const prefix = words(typed).at(-1);
  if (prefix === undefined) return [];
  return documents
    .vocabulary()
    .filter((word) => word.startsWith(prefix))
    .sort((a, b) => documents.counts(b).size - documents.counts(a).size || (a < b ? -1 : 1))
    .slice(0, limit);
}
