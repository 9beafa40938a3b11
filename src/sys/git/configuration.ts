import { dirname, isAbsolute } from 'node:path';
import { resolveInRoots } from '../files/real-path.ts';
import { parseGitConfig, type GitSetting } from './config-file.ts';
import { readGitFile } from './read-git-file.ts';

const MAX_CONFIG_BYTES = 256 * 1024;
/** The depth to which git follows includes. */
const MAX_DEPTH = 10;
const MAX_FILES = 100;

/** The settings of configuration files and of all files that they include. */
export interface GitConfiguration {
  readonly settings: readonly GitSetting[];
  /** The included files, absolute and real as far as they exist. */
  readonly included: readonly string[];
  /** False if a part could not be read, so that its settings are not known. */
  readonly isComplete: boolean;
}

/**
 * Reads configuration files and the files that they include. `files` are absolute paths; files that do not exist are
 * skipped. Conditional includes always count as included, because the condition may change. `homes` are the
 * directories that `~` may mean.
 */
export function readGitConfiguration(
  files: readonly string[],
  homes: readonly string[],
): GitConfiguration {
  const settings: GitSetting[] = [];
  const seen = new Set<string>();
  let isComplete = true;
  const read = (file: string, depth: number): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const found = depth > MAX_DEPTH || seen.size > MAX_FILES ? null : readSettings(file);
    if (found === null) {
      isComplete = false;
      return;
    }
    settings.push(...found);
    for (const { name, value } of found) {
      if (!isInclude(name)) continue;
      const targets = resolveConfiguredPaths(value ?? '', dirname(file), homes);
      if (targets === null) isComplete = false;
      for (const target of targets ?? []) read(target, depth + 1);
    }
  };
  const first = files.map((file) => resolveInRoots(file, []).real);
  for (const file of first) read(file, 0);
  return {
    settings,
    included: [...seen].filter((file) => !first.includes(file)),
    isComplete,
  };
}

function isInclude(name: string): boolean {
  return name === 'include.path' || (name.startsWith('includeif.') && name.endsWith('.path'));
}

/**
 * Resolves a path in a configuration, relative to `base` (absolute), following links. Returns several paths if
 * `~` has several meanings, and null if the path cannot be resolved.
 */
export function resolveConfiguredPaths(
  value: string,
  base: string,
  homes: readonly string[],
): readonly string[] | null {
  if (value === '~' || value.startsWith('~/')) {
    return homes.map((home) => resolveInRoots(`${home}/${value.slice(1)}`, []).real);
  }
  // Some versions of git treat such white space as a blank.
  if (/^(?:~|%\()|[\t\r]/.test(value)) return null;
  return [resolveInRoots(isAbsolute(value) ? value : `${base}/${value}`, []).real];
}

/** Reads the settings of a file. Returns null if the file exists but is too large, or git could not read it. */
function readSettings(file: string): readonly GitSetting[] | null {
  const content = readGitFile(file, MAX_CONFIG_BYTES);
  if (content === 'missing') return [];
  return content === null ? null : parseGitConfig(content.toString('utf8'));
}
