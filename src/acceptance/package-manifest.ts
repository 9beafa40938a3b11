import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';

/**
 * The fields of `package.json` that describe the package itself, so that a task may change them. All others, such as
 * `scripts` and the settings of test runners, decide how checks run.
 */
const FIELDS_OF_THE_PACKAGE: ReadonlySet<string> = new Set([
  'name',
  'version',
  'description',
  'keywords',
  'homepage',
  'bugs',
  'license',
  'author',
  'contributors',
  'repository',
  'private',
  'files',
  'type',
  'main',
  'module',
  'browser',
  'types',
  'typings',
  'exports',
  'imports',
  'bin',
  'sideEffects',
  'dependencies',
  'devDependencies',
  'peerDependencies',
  'peerDependenciesMeta',
  'optionalDependencies',
  'bundledDependencies',
  'engines',
]);

/**
 * Returns the `package.json` with which checks run: the fields that describe the package as the task left them, and all
 * other fields as they were before.
 *
 * @param before the text before the task began; null if there was none
 * @param now the text that the task left. If it is no JSON object, it is returned as it is, so that the checks fail.
 */
export function restorePackageManifest(before: string | null, now: string): string {
  const left = parseObject(now);
  if (left === null) return now;
  const former = before === null ? {} : (parseObject(before) ?? {});
  const kept = Object.entries(former).filter(([name]) => !FIELDS_OF_THE_PACKAGE.has(name));
  const taken = Object.entries(left).filter(([name]) => FIELDS_OF_THE_PACKAGE.has(name));
  return `${JSON.stringify(Object.fromEntries([...taken, ...kept]), null, 2)}\n`;
}

/** Lists the command lines of the scripts in a `package.json`. Returns an empty list if the text is no such file. */
export function listPackageScripts(text: string): readonly string[] {
  const scripts = parseObject(text)?.['scripts'];
  if (!isJsonObject(scripts)) return [];
  return Object.values(scripts).filter((line) => typeof line === 'string');
}

function parseObject(text: string): JsonObject | null {
  try {
    const value: JsonValue = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    // A file that is not JSON has no fields to restore.
    return null;
  }
}
