/**
 * Runs the program of a checkout (`npm start -- ARGUMENTS`), and builds it first if a source is newer than the build.
 * The output of the build goes to stderr, so that stdout holds only what the program prints.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = dirname(import.meta.dirname);
const program = join(root, 'dist/muster.js');
const SOURCES = ['src', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json'];

/** The time of the last change below a path. A removed file changes the time of its directory. */
function lastChange(path: string): number {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return readdirSync(path).reduce(
    (latest, name) => Math.max(latest, lastChange(join(path, name))),
    stats.mtimeMs,
  );
}

/** The time of the last build; 0 if there is none. */
function builtAt(): number {
  return statSync(program, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

if (SOURCES.some((source) => lastChange(join(root, source)) > builtAt())) {
  execFileSync(process.execPath, [join(root, 'scripts/build.ts'), '--no-types'], {
    stdio: ['ignore', process.stderr, process.stderr],
  });
}
process.argv[1] = program;
await import(program);
