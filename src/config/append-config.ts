import { MusterError } from '../base/errors.ts';
import { isTomlTable } from '../base/toml-statements.ts';
import { readConfigFile } from './file-layer.ts';
import { escapeLine } from './message-text.ts';
import { parseToml, type TomlFile } from './parse-toml.ts';
import { formatProviderFragment, type ProviderFragment } from './provider-toml.ts';
import { type ConfigProblem } from './setting.ts';
import { changeUserFile } from './user-file.ts';

/** Returns the problems that the reader of the configuration has with a part of a file. */
export async function findFragmentProblems(text: string): Promise<readonly ConfigProblem[]> {
  const parsed = await parseToml('config.toml', text);
  return parsed.ok ? readConfigFile(parsed.file).problems : [parsed.problem];
}

/**
 * Appends the tables of a provider and a model to a configuration file of the user. Throws MusterError, and changes
 * nothing, if one of the tables is there already, or if the file cannot be changed.
 */
export async function appendToConfigFile(path: string, fragment: ProviderFragment): Promise<void> {
  await changeUserFile(path, {
    edit: ({ text, file }) => {
      refuseExisting(file, fragment);
      return joinTexts(text, formatProviderFragment(fragment));
    },
    // A table that is written inline, such as `providers = {}`, cannot be continued.
    invalidResult: 'the tables cannot be appended to it: add them by hand',
  });
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
