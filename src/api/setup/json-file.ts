import { lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { readNamedFile } from '../../sys/files/named-file.ts';
import { resolveInRoots } from '../../sys/files/real-path.ts';
import { writeFileInRoots } from '../../sys/files/write-file.ts';

interface JsonFileOptions {
  /** The maximum size of the present file in bytes. */
  readonly maxBytes: number;
  /** True if a new file may contain secrets, so that only the user may read it. */
  readonly isPrivate: boolean;
}

/**
 * Changes a JSON object in a file and replaces the file as a whole. Creates it if it is missing. Throws MusterError, and
 * changes nothing, if the file is not plain JSON with an object, or if it changes in between.
 *
 * @param change returns the new object, or null if nothing is to be written. It may throw
 */
export async function changeJsonFile(
  path: string,
  { maxBytes, isPrivate }: JsonFileOptions,
  change: (present: JsonObject) => JsonObject | null,
): Promise<void> {
  const { real } = resolveInRoots(path, []);
  // The state is taken before the content, so that a change in between is noticed.
  const expected = lstatSync(real, { bigint: true, throwIfNoEntry: false }) ?? 'nothing';
  const changed = change(expected === 'nothing' ? {} : await readObject(real, path, maxBytes));
  if (changed === null) return;
  const directory = dirname(real);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const mode = expected === 'nothing' && isPrivate ? { mode: 0o600 } : {};
  const bytes = Buffer.from(`${JSON.stringify(changed, null, 2)}\n`);
  await writeFileInRoots(real, { roots: [directory] }, bytes, expected, mode);
}

async function readObject(real: string, path: string, maxBytes: number): Promise<JsonObject> {
  const bytes = await readNamedFile(real, { maxBytes });
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (isJsonObject(value)) return value;
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
    throw unchangeableFile(path, 'it is not plain JSON (comments would be lost)');
  }
  throw unchangeableFile(path, 'it is not a JSON object');
}

/** Creates the error for a file whose content does not allow the change. */
export function unchangeableFile(path: string, reason: string): MusterError {
  const message = `${path} cannot be changed: ${reason}. Nothing was written; change it by hand.`;
  return new MusterError('CONFLICT', message);
}
