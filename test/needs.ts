import { appendFileSync, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Whether a program of the system is there, for `test.runIf`. Where it is not, it is listed at the
 * end of `npm test` as the reason for what was not run.
 */
export function needs(program: string, debianPackage: string): boolean {
  const directories = (process.env['PATH'] ?? '').split(delimiter);
  if (directories.some((directory) => existsSync(join(directory, program)))) return true;
  const list = process.env['MUSTER_TEST_NOT_RUN'];
  if (list !== undefined) appendFileSync(list, `${program} (package ${debianPackage})\n`);
  return false;
}
