import { ripgrep } from './ripgrep.ts';
import { RipgrepMissing } from './ripgrep-process.ts';
import type { SearchEngine } from './search-types.ts';

/** ripgrep; where its binary is missing or cannot run, the plain engine. */
export async function withSearchEngine<T>(use: (engine: SearchEngine) => Promise<T>): Promise<T> {
  try {
    return await use(ripgrep);
  } catch (thrown) {
    if (!(thrown instanceof RipgrepMissing)) throw thrown;
  }
  const { plainSearch } = await import('./plain-search.ts');
  return use(plainSearch);
}
