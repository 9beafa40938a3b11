import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Finds the relative imports of a declaration file, `import('...')` types included. */
const RELATIVE_IMPORT = /(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g;

/**
 * Deletes the declaration files of a directory that no entry refers to, directly or through others, so that the package
 * ships only types that its users can reach.
 */
export function pruneTypes(directory: string, entries: readonly string[]): void {
  const reached = new Set(entries.map((entry) => join(directory, entry)));
  for (const file of reached) {
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(RELATIVE_IMPORT)) {
      reached.add(resolve(dirname(file), path.replace(/\.(?:ts|js)$/, '.d.ts')));
    }
  }
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const file = join(directory, name);
    if (file.endsWith('.d.ts') && !reached.has(file)) rmSync(file);
  }
}
