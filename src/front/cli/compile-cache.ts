import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { systemErrorCode } from '../../base/errors.ts';
import { readEnvironment } from '../../sys/env.ts';

/**
 * Makes the directory where V8 keeps the compiled bundle between starts; null where it can't be made
 * or `NODE_DISABLE_COMPILE_CACHE` is set (then nothing is kept). It is the user's own cache, never the shared temporary directory, where
 * another user could lay code for us to run. Made here, step by step: Node would make it with all its
 * parents, and in a place like /proc never come to an end.
 */
export function compileCacheDirectory(): string | null {
  const { XDG_CACHE_HOME: cache, NODE_DISABLE_COMPILE_CACHE: off } = readEnvironment();
  if (off !== undefined && off !== '') return null;
  const base = cache !== undefined && cache !== '' ? cache : join(homedir(), '.cache');
  const own = join(base, 'muster');
  const compiled = join(own, 'compiled');
  return [base, own, compiled].every(isThere) ? compiled : null;
}

function isThere(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (thrown) {
    // Whatever the reason: without a cache the program only starts slower.
    return systemErrorCode(thrown) === 'EEXIST';
  }
}
