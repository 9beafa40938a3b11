import { lstatSync, readlinkSync, type Dirent } from 'node:fs';
import { NO_ACCESS } from '../protocol/permission.ts';
import { plural } from '../base/text.ts';
import { directoryEntries } from '../sys/files/directory-names.ts';
import { describeFileType } from '../sys/files/file-errors.ts';
import type { HeldDirectory } from '../sys/files/held-directory.ts';
import { withHeldDirectory } from '../sys/files/open-in-roots.ts';
import { toAbsolutePath, displayName, displayPath } from '../sys/files/paths.ts';
import { DIRECTORY, DIRECTORY_ALIASES, defineBuiltinTool } from './shared/define-tool.ts';
import { WithheldCounter, fitLines } from './shared/output.ts';
import { addPathSuggestion } from './shared/path-suggestions.ts';

/** The maximum number of entries that are read. */
const MAX_ENTRIES = 10_000;
/** The maximum number of entries that are shown. */
const MAX_SHOWN_ENTRIES = 1000;
const NOTE_BYTES = 200;

export const lsTool = defineBuiltinTool({
  name: 'LS',
  kind: 'read',
  replay: 'pure',
  description: 'List a directory, with hidden entries.',
  input: {
    type: 'object',
    properties: { path: DIRECTORY },
    required: [],
    fixed: { recursive: [false], depth: [1], offset: [1, 0], show_hidden: [true], all: [true] },
  },
  aliases: DIRECTORY_ALIASES,
  describe: (input, { cwd }) => ({ ...NO_ACCESS, reads: [toAbsolutePath(input.path ?? '.', cwd)] }),
  async run(input, context) {
    const path = toAbsolutePath(input.path ?? '.', context.cwd);
    const shown = displayPath(path, context.cwd);
    try {
      const { lines, total, more, withheld } = withHeldDirectory(path, context, (directory, real) =>
        listEntries(
          directory,
          new WithheldCounter(context.excludedPathsBelow({ asked: path, real })),
        ),
      );
      const notes = withheld.notes(['entry', 'entries']);
      if (total === 0) {
        return { text: notes.length === 0 ? `[${shown} is empty]` : notes.join('\n') };
      }
      const fitted = fitLines(lines, context.caps.resultBytes - NOTE_BYTES);
      const remaining = total - fitted.lines.length;
      const note = `[${more ? 'more than ' : ''}${plural(remaining, 'more entry', 'more entries')}: use Glob to find some by name]`;
      return {
        text: [...fitted.lines, ...(remaining > 0 || more ? [note] : []), ...notes].join('\n'),
      };
    } catch (thrown) {
      throw addPathSuggestion(thrown, path, context);
    }
  },
});

interface Listing {
  readonly lines: readonly string[];
  readonly total: number;
  /** Whether there are more entries than were read. */
  readonly more: boolean;
  readonly withheld: WithheldCounter;
}

function listEntries(directory: HeldDirectory, withheld: WithheldCounter): Listing {
  const { entries: all, more } = readFirstEntries(directory.at('.'));
  const entries = all.filter((entry) => !withheld.countWithheld(entryPath(entry)));
  const sorted = entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const lines = sorted
    .slice(0, MAX_SHOWN_ENTRIES)
    .map(({ name }) => describeEntry(directory, name));
  return { lines, total: entries.length, more, withheld };
}

function entryPath(entry: Dirent): string {
  return entry.isDirectory() ? `${entry.name}/` : entry.name;
}

function readFirstEntries(path: string): { readonly entries: Dirent[]; readonly more: boolean } {
  const entries: Dirent[] = [];
  for (const entry of directoryEntries(path)) {
    if (entries.length === MAX_ENTRIES) return { entries, more: true };
    entries.push(entry);
  }
  return { entries, more: false };
}

function describeEntry(directory: HeldDirectory, entry: string): string {
  const name = displayName(entry);
  const path = directory.at(entry);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return `${name}  (gone)`;
  if (stats.isDirectory()) return `${name}/`;
  if (stats.isSymbolicLink()) return `${name} -> ${displayName(readlinkSync(path))}`;
  return stats.isFile()
    ? `${name}  ${formatSize(stats.size)}`
    : `${name}  (${describeFileType(stats)})`;
}

function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ['KB', 'MB', 'GB', 'TB'];
  let size = bytes;
  let unit = -1;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${size.toFixed(1)} ${units[unit] ?? ''}`;
}
