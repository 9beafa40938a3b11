#!/usr/bin/env node
// This file runs first. The file and its imports must load on any version of Node, so that the version can be checked.
import { VERSION } from '../../base/version.ts';
import { homeDirectory, readEnvironment } from '../../sys/env.ts';

const WRITABLE_BY_OTHERS = 0o022;
const PRIVATE_UMASK = 0o077;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `muster needs Node 22.19 or newer; this is ${process.versions.node} (${process.execPath}).\n`,
  );
  process.exitCode = 2;
} else if (!isVersionAsked(process.argv.slice(2)) || !printVersion()) {
  const cache = compileCacheDirectory();
  if (cache !== null) keepCompiledCode(cache);
  const { tuneCompilersSoon, main } = await import('./main.ts');
  tuneCompilersSoon();
  await main(process.argv.slice(2));
}

function isVersionAsked([first, ...others]: readonly string[]): boolean {
  return (first === '--version' || first === '-v') && others.length === 0;
}

/**
 * Prints the version without loading the command line, which takes longer than all else. Returns whether stdout took it
 * at once; if not, the command line prints it and handles a pipe that is closed or full.
 */
function printVersion(): boolean {
  try {
    // `process.stdout` would load the code for streams.
    process.getBuiltinModule('node:fs').writeSync(1, `${VERSION}\n`);
    return true;
  } catch {
    return false;
  }
}

/**
 * Creates the directory where V8 keeps the compiled bundle between starts. Returns null if the directory cannot be
 * created, if others can write to it, or if `NODE_DISABLE_COMPILE_CACHE` is set; no code is kept then. The directory is
 * in the user's own cache and never in the shared temporary directory, where another user could plant code that
 * Muster would run. The directory is created one level at a time, because Node would create all parents, which never
 * ends in a directory such as /proc. This function imports nothing, because it runs before all code that is cached.
 */
function compileCacheDirectory(): string | null {
  const environment = readEnvironment();
  const { XDG_CACHE_HOME: cache, NODE_DISABLE_COMPILE_CACHE: off } = environment;
  if (off !== undefined && off !== '') return null;
  const base = cache?.startsWith('/') === true ? cache : `${homeDirectory(environment)}/.cache`;
  const compiled = `${base}/muster/compiled`;
  const isCreated = [base, `${base}/muster`, compiled].every(createDirectory);
  return isCreated && [`${base}/muster`, compiled].every(isPrivate) ? compiled : null;
}

/**
 * Tells Node to keep compiled code in a directory. Node creates directories in it now and files at exit, with the
 * permissions that the umask leaves. Nobody but the user may access them, so the umask is private at these two
 * moments. In between, the user's own umask applies to the files that tools and commands write.
 */
function keepCompiledCode(directory: string): void {
  const before = process.umask(PRIVATE_UMASK);
  process.getBuiltinModule('node:module').enableCompileCache(directory);
  process.umask(before);
  process.once('exit', () => void process.umask(PRIVATE_UMASK));
}

/** Whether nobody but the user can write to a directory. Other users could plant code in it otherwise. */
function isPrivate(path: string): boolean {
  const stat = process.getBuiltinModule('node:fs').lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  const isOwn = process.getuid === undefined || stat.uid === process.getuid();
  return stat.isDirectory() && isOwn && (stat.mode & WRITABLE_BY_OTHERS) === 0;
}

/** Creates a directory if it is missing, and returns whether it exists now. */
function createDirectory(path: string): boolean {
  try {
    process.getBuiltinModule('node:fs').mkdirSync(path, { mode: 0o700 });
    return true;
  } catch (thrown) {
    // After any other error there is no cache, and the program only starts more slowly.
    return thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST';
  }
}
