import { readEnvironment } from '../../sys/env.ts';

const WRITABLE_BY_OTHERS = 0o022;
const PRIVATE_UMASK = 0o077;

/**
 * Makes the directory where V8 keeps the compiled bundle between starts. Null if it cannot be made, if
 * others can write to it, or if `NODE_DISABLE_COMPILE_CACHE` is set: then nothing is kept. The directory
 * is in the user's own cache and never in the shared temporary directory, where another user could plant
 * code for us to run. It is made here, one level at a time, because Node would make all parents, which
 * never ends in a place like /proc. Nothing is imported for this, because it runs before all that is cached.
 */
export function compileCacheDirectory(): string | null {
  const { XDG_CACHE_HOME: cache, NODE_DISABLE_COMPILE_CACHE: off } = readEnvironment();
  if (off !== undefined && off !== '') return null;
  const home = process.getBuiltinModule('node:os').homedir();
  const base = cache !== undefined && cache !== '' ? cache : `${home}/.cache`;
  const compiled = `${base}/muster/compiled`;
  const isMade = [base, `${base}/muster`, compiled].every(isThere);
  return isMade && [`${base}/muster`, compiled].every(isOurs) ? compiled : null;
}

/**
 * Has Node keep compiled code in a directory. Node makes directories in it now and files at its exit, with
 * the rights that the umask leaves: both are for the user alone. In between the umask is the user's, which
 * holds for the files that tools write and for every command.
 */
export function keepCompiledCode(directory: string): void {
  const before = process.umask(PRIVATE_UMASK);
  process.getBuiltinModule('node:module').enableCompileCache(directory);
  process.umask(before);
  process.once('exit', () => void process.umask(PRIVATE_UMASK));
}

/** Code out of a directory that somebody else can write to would be theirs. */
function isOurs(path: string): boolean {
  const stat = process.getBuiltinModule('node:fs').lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  const isOwn = process.getuid === undefined || stat.uid === process.getuid();
  return stat.isDirectory() && isOwn && (stat.mode & WRITABLE_BY_OTHERS) === 0;
}

function isThere(path: string): boolean {
  try {
    process.getBuiltinModule('node:fs').mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (thrown) {
    // Whatever else the reason is: without a cache the program only starts slower.
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST';
  }
}
