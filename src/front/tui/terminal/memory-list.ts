import { lstatSync, mkdirSync, readdirSync, readFileSync, statSync, type Stats } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { ContextFile } from '../../../api/index.ts';
import { hashContent } from '../../../sys/files/read-file.ts';
import { locateMemoryDirectory } from '../../../sys/files/memory-directories.ts';
import { projectRoot } from '../../../sys/files/project-directories.ts';
import { homeDirectory, readEnvironment } from '../../../sys/env.ts';
import type { PickerItem } from '../model/picker.ts';
import { memoryItems, type MemoryEntry } from '../update/commands/memory.ts';
import type { UiMessage } from '../update/message.ts';
import { openInEditor, type EditorSurface } from './external-editor.ts';
import { projectMemoryFile, userMemoryFile } from './memory-file.ts';

/** The maximum number of files with notes that are listed. */
const MAX_NOTES = 100;
/** The maximum number of bytes of a file that its preview reads. */
const MAX_PREVIEW_BYTES = 8_192;

/**
 * Lists the context files that are loaded for a directory, the files with notes of agents, and the files of the project
 * and of the user that do not exist yet.
 */
export function listMemory(cwd: string, files: readonly ContextFile[]): readonly PickerItem[] {
  const home = homeDirectory(readEnvironment());
  const loaded = files.map((file): MemoryEntry => {
    const { name, scope, importedBy, isCut, text } = file;
    const path = contextPath(name, { cwd, home });
    const size = statFile(path)?.size ?? Buffer.byteLength(text);
    const kind = importedBy === undefined ? scope : 'imported';
    return { name, path, kind, size, isCut, text };
  });
  const known = new Set(loaded.map(({ path }) => path));
  const create = (path: string, kind: MemoryEntry['kind']): readonly MemoryEntry[] => {
    if (known.has(path) || statFile(path) !== undefined) return [];
    return [
      { name: shortName(path, { cwd, home }), path, kind, size: null, isCut: false, text: '' },
    ];
  };
  return memoryItems([
    ...loaded,
    ...listNotes({ cwd, home }),
    ...create(projectMemoryFile(cwd).path, 'project'),
    ...create(userMemoryFile().path, 'user'),
  ]);
}

interface Places {
  readonly cwd: string;
  readonly home: string;
}

/** Returns the path of a context file by its name, which is relative to the directory or begins with `~/`. */
function contextPath(name: string, { cwd, home }: Places): string {
  if (name.startsWith('~/')) return join(home, name.slice(2));
  return name.startsWith('/') ? name : join(cwd, name);
}

function shortName(path: string, { cwd, home }: Places): string {
  const inside = relative(cwd, path);
  if (!inside.startsWith('..')) return inside;
  return path.startsWith(`${home}/`) ? `~/${path.slice(home.length + 1)}` : path;
}

/** Lists the files `MEMORY.md` of the shared notes and of the notes of single agents. */
function listNotes(places: Places): readonly MemoryEntry[] {
  const bases = { user: dirname(userMemoryFile().path), project: projectRoot(places.cwd) };
  const scopes = ['user', 'project', 'local'] as const;
  const shared = scopes.map((scope) => locateMemoryDirectory(scope, null, bases).directory);
  const own = scopes.flatMap((scope) => {
    const { top } = locateMemoryDirectory(scope, 'agent', bases);
    return listDirectory(top).map((agent) => join(top, agent));
  });
  return [...shared, ...own].slice(0, MAX_NOTES).flatMap((directory): readonly MemoryEntry[] => {
    const path = join(directory, 'MEMORY.md');
    const stats = lstatSync(path, { throwIfNoEntry: false });
    // Reading a pipe would block.
    if (stats?.isFile() !== true || stats.size > MAX_BYTES) return [];
    const text = readFileSync(path).subarray(0, MAX_PREVIEW_BYTES).toString('utf8');
    const name = shortName(path, places);
    return [{ name, path, kind: 'notes', size: stats.size, isCut: false, text }];
  });
}

/** The maximum size of a file with notes. */
const MAX_BYTES = 1024 * 1024;

function listDirectory(path: string): readonly string[] {
  try {
    return readdirSync(path).toSorted();
  } catch {
    // Most of these directories do not exist.
    return [];
  }
}

/** Returns the facts about a regular file or a link to one; undefined if there is none. */
function statFile(path: string): Stats | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true ? undefined : stats;
}

/** Opens a context file in the user's editor, which creates it. Resolves to a note that says what follows. Never rejects. */
export async function editMemory(surface: EditorSurface, path: string): Promise<UiMessage> {
  const before = hashFile(path);
  if (surface.externalEditor !== undefined) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  }
  const message = await openInEditor(surface, { path, done: '' });
  if (message.type !== 'note') return message;
  const after = hashFile(path);
  if (after === before) return { ...message, text: `${path} was not changed` };
  const what = before === null ? 'created' : after === null ? 'removed' : 'changed';
  return { ...message, text: `${path} was ${what}; ${appliesText(path)}` };
}

/** Says when a change of a file applies. */
function appliesText(path: string): string {
  return path.includes('/.muster/')
    ? 'agents read it when they begin, if you have trusted the notes of the project'
    : 'new conversations and subagents read it, and this conversation keeps the text that it began with';
}

function hashFile(path: string): string | null {
  try {
    return statSync(path).isFile() ? hashContent(readFileSync(path)) : null;
  } catch {
    // The file does not exist, or cannot be read.
    return null;
  }
}
