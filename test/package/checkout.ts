import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { npm } from './nodes.ts';

/** The directory of this checkout. */
export const ROOT = resolve(import.meta.dirname, '../..');

const NOT_COPIED: ReadonlySet<string> = new Set(['node_modules', 'dist', 'coverage', '.git']);

/** Copies the sources of this checkout to another directory, with the same packages, and builds them there. */
export async function buildCopy(directory: string, options: readonly string[] = []): Promise<void> {
  for (const name of readdirSync(ROOT).filter((entry) => !NOT_COPIED.has(entry))) {
    cpSync(join(ROOT, name), join(directory, name), { recursive: true, preserveTimestamps: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  const args = ['run', 'build', '--silent', '--', ...options];
  await promisify(execFile)('npm', args, { cwd: directory });
}

/** Packs what is built in a checkout into a new directory, and returns the path of the tarball. */
export async function packCheckout(checkout: string, into: string): Promise<string> {
  mkdirSync(into);
  const options = ['--ignore-scripts', '--silent', '--pack-destination', into];
  return join(into, (await npm(['pack', checkout, ...options], checkout)).trim());
}

/** The SHA-256 of each file below a directory, by path. */
export function filesIn(directory: string): Readonly<Record<string, string>> {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted();
  return Object.fromEntries(
    names
      .filter((name) => statSync(join(directory, name)).isFile())
      .map((name) => [name, hash('sha256', readFileSync(join(directory, name)))]),
  );
}
