#!/usr/bin/env node
// The first file that runs: it and what it imports must work on any Node up to the check of the version.
import { readEnvironment } from '../../sys/env.ts';

const WRITABLE_BY_OTHERS = 0o022;
const PRIVATE_UMASK = 0o077;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `muster needs Node 22.19 or newer; this is ${process.versions.node} (${process.execPath}).\n`,
  );
  process.exitCode = 2;
} else {
  const cache = compileCacheDirectory();
  if (cache !== null) keepCompiledCode(cache);
  const { tuneCompilersSoon, main } = await import('./main.ts');
  tuneCompilersSoon();
  await main(process.argv.slice(2));
}

/**
 * Makes the directory where V8 keeps the compiled bundle between starts. Returns null if it cannot be made,
 * if others can write to it, or if `NODE_DISABLE_COMPILE_CACHE` is set: then nothing is kept. The directory is
 * in the user's own cache and never in the shared temporary directory, where another user could plant code for
 * us to run. It is made here, one level at a time, because Node would make all parents, which never ends in a
 * place like /proc. Nothing is imported for this, because it runs before everything that is cached.
 */
function compileCacheDirectory(): string | null {
  const { XDG_CACHE_HOME: cache, NODE_DISABLE_COMPILE_CACHE: off } = readEnvironment();
  if (off !== undefined && off !== '') return null;
  const home = process.getBuiltinModule('node:os').homedir();
  const base = cache !== undefined && cache !== '' ? cache : `${home}/.cache`;
  const compiled = `${base}/muster/compiled`;
  const isMade = [base, `${base}/muster`, compiled].every(makeDirectory);
  return isMade && [`${base}/muster`, compiled].every(isPrivate) ? compiled : null;
}

/**
 * Tells Node to keep compiled code in a directory. Node makes directories in it now and files at exit, with
 * the rights that the umask leaves: both must be for the user alone. In between the umask is the user's,
 * because it applies to the files that tools and commands write.
 */
function keepCompiledCode(directory: string): void {
  const before = process.umask(PRIVATE_UMASK);
  process.getBuiltinModule('node:module').enableCompileCache(directory);
  process.umask(before);
  process.once('exit', () => void process.umask(PRIVATE_UMASK));
}

/** Whether nobody but the user can write to a directory: others could plant code there. */
function isPrivate(path: string): boolean {
  const stat = process.getBuiltinModule('node:fs').lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  const isOwn = process.getuid === undefined || stat.uid === process.getuid();
  return stat.isDirectory() && isOwn && (stat.mode & WRITABLE_BY_OTHERS) === 0;
}

/** Makes a directory if it is missing; returns whether it exists now. */
function makeDirectory(path: string): boolean {
  try {
    process.getBuiltinModule('node:fs').mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (thrown) {
    // For any other reason there is no cache, and the program only starts slower.
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST';
  }
}
