import type { Documents } from './documents.ts';
import { words } from './words.ts';

export interface Hit {
  readonly id: string;
  readonly score: number;
}

/**
 * Finds the documents with all words of the query. A word that is followed by `*` stands for all words that begin with it.
 * A word of the query counts once. The score is the sum over the words of the vocabulary that were looked for: the number
 * of times it occurs, times the number of documents without it plus one. Highest score first, then by id.
 */
export function search(documents: Documents, query: string, limit: number): Hit[] {
  const parts = query.split(/\s+/).filter((part) => words(part).length > 0);
  const total = documents.all().length;
  let hits: Hit[] = [];
  const looked: string[] = [];
  for (const document of documents.all()) hits.push({ id: document.id, score: 0 });
  for (const part of parts) {
    const isPrefix = part.endsWith('*');
    const [word = ''] = words(part);
    const matching = isPrefix ? documents.vocabulary().filter((each) => each.startsWith(word)) : [word];
    const found: string[] = [];
    for (const each of matching) {
      for (const id of documents.counts(each).keys()) found.push(id);
    }
    hits = hits.filter(({ id }) => found.includes(id));
    for (const each of matching) {
      if (looked.includes(each)) continue;
      looked.push(each);
      hits = hits.map(({ id, score }) => {
        const counts = documents.counts(each);
        return { id, score: score + (counts.get(id) ?? 0) * (total - counts.size + 1) };
      });
    }
  }
  if (parts.length === 0) return [];
  hits.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
  return hits.slice(0, limit);
}
