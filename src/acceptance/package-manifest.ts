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
 * other fields as they were before. A file that is not plain JSON, which some programs read all the same, counts as
 * empty.
 *
 * @param before the text before the task began; null if there was none
 * @param now the text that the task left
 */
export function restorePackageManifest(before: string | null, now: string): string {
  const left = parseObject(now) ?? {};
  const former = before === null ? {} : (parseObject(before) ?? {});
  const kept = Object.entries(former).filter(([name]) => !FIELDS_OF_THE_PACKAGE.has(name));
  const taken = Object.entries(left).filter(([name]) => FIELDS_OF_THE_PACKAGE.has(name));
  return `${JSON.stringify(Object.fromEntries([...taken, ...kept]), null, 2)}\n`;
}

/** Returns the command lines of the scripts in a `package.json`, by name. Returns none if the text is no such file. */
export function listPackageScripts(text: string): ReadonlyMap<string, string> {
  const scripts = parseObject(text)?.['scripts'];
  if (!isJsonObject(scripts)) return new Map();
  return new Map(
    Object.entries(scripts).flatMap(([name, line]) =>
      typeof line === 'string' ? [[name, line]] : [],
    ),
  );
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
