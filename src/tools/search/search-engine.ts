import type { SearchEngine } from './search-types.ts';

/** ripgrep; where its binary is missing or cannot run, the plain engine. Loaded at the first search. */
export async function withSearchEngine<T>(use: (engine: SearchEngine) => Promise<T>): Promise<T> {
  const { ripgrep } = await import('./ripgrep.ts');
  try {
    return await use(ripgrep);
  } catch (thrown) {
    const { RipgrepMissing } = await import('./ripgrep-process.ts');
    if (!(thrown instanceof RipgrepMissing)) throw thrown;
  }
  const { plainSearch } = await import('./plain-search.ts');
  return use(plainSearch);
}
