import { splitIdentifier, stem } from '../../base/words.ts';
import type { WeighedTerm } from './weighed-terms.ts';

export interface PathMatch {
  readonly matched: readonly WeighedTerm[];
  /** By the file's own name; the less of it the terms are, the less. */
  readonly inName: number;
  readonly inDirectory: number;
}

/** What of a question stands in a path. Pure. */
export function matchPath(path: string, terms: readonly WeighedTerm[]): PathMatch {
  const slash = path.lastIndexOf('/');
  const parts = splitIdentifier(path.slice(slash + 1).replace(/\.\w+$/, ''));
  const base = new Set([...parts.map(stem), parts.join('')]);
  const directories = new Set(splitIdentifier(path.slice(0, Math.max(slash, 0))).map(stem));
  const matched: WeighedTerm[] = [];
  let inName = 0;
  let inDirectory = 0;
  for (const term of terms) {
    if (term.stems.some((each) => base.has(each)))
      inName += term.worth * (0.5 + 0.5 / Math.max(parts.length, 1));
    else if (term.stems.some((each) => directories.has(each))) inDirectory += term.worth;
    else continue;
    matched.push(term);
  }
  return { matched, inName, inDirectory };
}

/** Whether a path is the one that a question names: whole, by its end, or by its directory. */
export function isNamed(path: string, wanted: string): boolean {
  return (
    path === wanted ||
    path.endsWith(`/${wanted}`) ||
    (wanted.includes('/') && path.startsWith(`${wanted}/`))
  );
}
