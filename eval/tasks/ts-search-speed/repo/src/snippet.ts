import { words } from './words.ts';

/** The part of `size` words with the most different words of the query, the first one of equals; all words of a shorter text. */
export function snippet(text: string, query: string, size: number): string {
  const all = words(text);
  let best = all.slice(0, size);
  let most = -1;
  for (let start = 0; start + size <= all.length; start++) {
    const part = all.slice(start, start + size);
    const count = [...new Set(words(query))].filter((word) => part.includes(word)).length;
    if (count > most) {
      most = count;
      best = part;
    }
  }
  return best.join(' ');
}
