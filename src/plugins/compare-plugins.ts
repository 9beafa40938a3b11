import type { PluginFile } from './plugin-files.ts';

/** A version of a plugin that is compared with another one. */
export interface PluginVersion {
  readonly files: readonly PluginFile[];
  /** A list of what it can do, one effect per line. */
  readonly effects: readonly string[];
}

/** The differences between two versions of a plugin. */
export interface PluginDifference {
  /** The paths of files. */
  readonly files: Readonly<Record<'added' | 'removed' | 'changed', readonly string[]>>;
  /** The lines about what the plugin can do. */
  readonly effects: Readonly<Record<'added' | 'removed', readonly string[]>>;
}

/** Compares two versions of a plugin. */
export function comparePlugins(before: PluginVersion, after: PluginVersion): PluginDifference {
  const old = new Map(before.files.map((file) => [file.path, file]));
  const paths = new Set(after.files.map(({ path }) => path));
  const isChanged = (file: PluginFile): boolean => {
    const earlier = old.get(file.path);
    return (
      earlier !== undefined &&
      (earlier.isExecutable !== file.isExecutable || !earlier.bytes.equals(file.bytes))
    );
  };
  return {
    files: {
      added: after.files.filter(({ path }) => !old.has(path)).map(({ path }) => path),
      removed: before.files.filter(({ path }) => !paths.has(path)).map(({ path }) => path),
      changed: after.files.filter(isChanged).map(({ path }) => path),
    },
    effects: {
      added: withoutLines(after.effects, before.effects),
      removed: withoutLines(before.effects, after.effects),
    },
  };
}

/** Returns the lines that the others do not have as often. */
function withoutLines(lines: readonly string[], others: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const line of others) counts.set(line, (counts.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = counts.get(line) ?? 0;
    if (count > 0) counts.set(line, count - 1);
    return count === 0;
  });
}
