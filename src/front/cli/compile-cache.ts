import { homedir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from '../../sys/env.ts';

/**
 * Where V8 keeps the compiled bundle between starts: the user's own cache, never the shared
 * temporary directory, where another user could lay code for us to run.
 */
export function compileCacheDirectory(): string {
  const { XDG_CACHE_HOME: cache } = readEnvironment();
  const base = cache !== undefined && cache !== '' ? cache : join(homedir(), '.cache');
  return join(base, 'muster', 'compiled');
}
