import { lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { MusterError } from '../base/errors.ts';
import { isTomlTable } from '../base/toml-statements.ts';
import { toFileError } from '../sys/files/file-errors.ts';
import { resolveInRoots } from '../sys/files/real-path.ts';
import { writeFileInRoots } from '../sys/files/write-file.ts';
import { readConfigFile } from './file-layer.ts';
import { escapeLine } from './message-text.ts';
import { parseToml, type TomlFile } from './parse-toml.ts';
import { formatProviderFragment, type ProviderFragment } from './provider-toml.ts';
import { describeConfigProblem, type ConfigProblem } from './setting.ts';
import { readUserSettingsFile } from './settings-file.ts';

/** Returns the problems that the reader of the configuration has with a part of a file. */
export async function findFragmentProblems(text: string): Promise<readonly ConfigProblem[]> {
  const parsed = await parseToml('config.toml', text);
  return parsed.ok ? readConfigFile(parsed.file).problems : [parsed.problem];
}

/**
 * Appends the tables of a provider and a model to a configuration file of the user, which is replaced as a whole and
 * created if it is missing. Throws MusterError, and changes nothing, if one of the tables is there already, or if the
 * file is not valid before or after the change.
 */
export async function appendToConfigFile(path: string, fragment: ProviderFragment): Promise<void> {
  const { real } = resolveInRoots(path, []);
  // The state is taken before the content, so that a change in between is noticed.
  const expected = lstatSync(real, { bigint: true, throwIfNoEntry: false }) ?? 'nothing';
  const reading = readUserSettingsFile(real);
  if (reading.kind === 'broken') throw unusable(path, reading.message);
  const before = reading.kind === 'read' ? reading.text : '';
  const file = await parseOrThrow(path, before);
  refuseExisting(file, fragment);
  const after = joinTexts(before, formatProviderFragment(fragment));
  const added = await parseToml(path, after);
  // A table that is written inline, such as `providers = {}`, cannot be continued.
  if (!added.ok) throw unusable(path, 'the tables cannot be appended to it: add them by hand');
  const problems = readConfigFile(added.file).problems.map(describeConfigProblem);
  if (problems.length > 0) throw unusable(path, `correct it first: ${problems.join('; ')}`);
  await write(real, after, expected);
}

async function parseOrThrow(path: string, text: string): Promise<TomlFile> {
  const parsed = await parseToml(path, text);
  if (parsed.ok) return parsed.file;
  throw unusable(path, `correct it first: ${describeConfigProblem(parsed.problem)}`);
}

/** Throws if the file has a table of the same name. */
function refuseExisting(
  file: TomlFile,
  { name, provider, modelId, model }: ProviderFragment,
): void {
  const tables = [
    ...(provider === null ? [] : [['models', 'providers', name]]),
    ...(model === null ? [] : [['models', 'catalogue', `${name}/${modelId}`]]),
  ];
  for (const path of tables) {
    if (!hasKey(file.table, path)) continue;
    const message = `${file.where(path)}: [${escapeLine(path.join('.'))}] is there already; nothing was written. Change it by hand`;
    throw new MusterError('CONFLICT', message);
  }
}

function hasKey(table: unknown, [key = '', ...rest]: readonly string[]): boolean {
  if (!isTomlTable(table) || !Object.hasOwn(table, key)) return false;
  return rest.length === 0 || hasKey(table[key], rest);
}

function joinTexts(before: string, added: string): string {
  if (before.trim() === '') return added;
  return `${before}${before.endsWith('\n') ? '' : '\n'}\n${added}`;
}

async function write(
  real: string,
  text: string,
  expected: Parameters<typeof writeFileInRoots>[3],
): Promise<void> {
  const directory = dirname(real);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (thrown) {
    throw toFileError(directory, thrown);
  }
  const mode = expected === 'nothing' ? { mode: 0o600 } : {};
  await writeFileInRoots(real, { roots: [directory] }, Buffer.from(text), expected, mode);
}

function unusable(path: string, message: string): MusterError {
  return new MusterError('INVALID_PARAM', `${escapeLine(path)}: ${message}. Nothing was written`);
}
