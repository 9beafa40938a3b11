import type { Documents } from './documents.ts';
import { words } from './words.ts';

/** Groups of two or more documents with the same set of words, each sorted by id, and the groups by their first id. */
export function duplicates(documents: Documents): string[][] {
  const groups: string[][] = [];
  for (const one of documents.all()) {
    const group: string[] = [];
    for (const other of documents.all()) {
      const [a, b] = [new Set(words(one.text)), new Set(words(other.text))];
      if (a.size === b.size && [...a].every((word) => b.has(word))) group.push(other.id);
    }
    group.sort();
    if (group.length > 1 && !groups.some((each) => each[0] === group[0])) groups.push(group);
  }
  return groups.sort((a, b) => ((a[0] ?? '') < (b[0] ?? '') ? -1 : 1));
}
