import { ripgrep } from './ripgrep.ts';
import { RipgrepMissing } from './ripgrep-process.ts';
import type { SearchEngine } from './search-types.ts';

let missing = false;

/** ripgrep; where its binary is missing or does not start, the plain engine, from then on. */
export async function withSearchEngine<T>(use: (engine: SearchEngine) => Promise<T>): Promise<T> {
  if (!missing) {
    try {
      return await use(ripgrep);
    } catch (thrown) {
      if (!(thrown instanceof RipgrepMissing)) throw thrown;
      missing = true;
    }
  }
  const { plainSearch } = await import('./plain-search.ts');
  return use(plainSearch);
}
