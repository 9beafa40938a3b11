import { lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { MusterError } from '../base/errors.ts';
import { toFileError } from '../sys/files/file-errors.ts';
import { resolveInRoots } from '../sys/files/real-path.ts';
import { writeFileInRoots, type ExpectedFile } from '../sys/files/write-file.ts';
import { readConfigFile } from './file-layer.ts';
import type { Layer } from './layer.ts';
import { escapeLine } from './message-text.ts';
import { parseToml, type TomlFile } from './parse-toml.ts';
import { describeConfigProblem } from './setting.ts';
import { readUserSettingsFile } from './settings-file.ts';

/** The user's configuration file before a change. */
export interface UserFileContent {
  readonly text: string;
  readonly file: TomlFile;
}

/** The user's configuration file after a change, and the settings that it contributes. */
interface ChangedUserFile {
  readonly file: TomlFile;
  readonly layer: Layer;
}

/** A change of the user's configuration file. */
interface UserFileChange {
  /** Returns the new text. Throws MusterError to change nothing. */
  readonly edit: (before: UserFileContent) => Promise<string> | string;
  /** The problem if the new text is not valid TOML. */
  readonly invalidResult: string;
}

/**
 * Changes a configuration file of the user, which is replaced as a whole, and created if it is missing. A link is followed
 * to its target. Throws MusterError, and changes nothing, if the file is not valid before or after the change, if it cannot
 * be written, or if somebody else changes it in the meantime.
 */
export async function changeUserFile(
  path: string,
  { edit, invalidResult }: UserFileChange,
): Promise<ChangedUserFile> {
  const { real } = resolveInRoots(path, []);
  // The state is taken before the content, so that a change in between is noticed.
  const expected = lstatSync(real, { bigint: true, throwIfNoEntry: false }) ?? 'nothing';
  const reading = readUserSettingsFile(real);
  if (reading.kind === 'broken') throw unusable(path, reading.message);
  const before = reading.kind === 'read' ? reading.text : '';
  const parsed = await parseToml(path, before);
  if (!parsed.ok) throw unusable(path, correctFirst([describeConfigProblem(parsed.problem)]));
  const after = await edit({ text: before, file: parsed.file });
  const changed = await parseToml(path, after);
  if (!changed.ok) throw unusable(path, invalidResult);
  const layer = readConfigFile(changed.file);
  const problems = layer.problems.map(describeConfigProblem);
  if (problems.length > 0) throw unusable(path, correctFirst(problems));
  if (after !== before) await write(real, after, expected);
  return { file: changed.file, layer };
}

/** Creates the error for a file that cannot be changed. */
export function unusable(path: string, message: string): MusterError {
  return new MusterError('INVALID_PARAM', `${escapeLine(path)}: ${message}. Nothing was written`);
}

function correctFirst(problems: readonly string[]): string {
  return `correct it first: ${problems.join('; ')}`;
}

async function write(real: string, text: string, expected: ExpectedFile): Promise<void> {
  const directory = dirname(real);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    throw toFileError(directory, thrown);
  }
  const mode = expected === 'nothing' ? { mode: 0o600 } : {};
  await writeFileInRoots(real, { roots: [directory] }, Buffer.from(text), expected, mode);
}
