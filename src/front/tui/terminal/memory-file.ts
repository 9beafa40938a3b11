import { lstatSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MusterError } from '../../../base/errors.ts';
import { userConfigDirectory } from '../../../config/paths.ts';
import { homeDirectory, readEnvironment } from '../../../sys/env.ts';
import { listProjectDirectories } from '../../../sys/files/project-directories.ts';
import { resolveInRoots } from '../../../sys/files/real-path.ts';
import { writeFileInRoots } from '../../../sys/files/write-file.ts';

/** The context files that take a note, in the order of preference (docs/context-files.md). */
const NAMES = ['AGENTS.override.md', 'AGENTS.md', 'CLAUDE.md', 'GEMINI.md', 'QWEN.md'];
/** The maximum size of a context file to which a note is added. */
const MAX_BYTES = 256 * 1024;

/** A context file that takes notes. */
interface MemoryFile {
  readonly path: string;
  /** The directory that no link of the file may leave. */
  readonly root: string;
}

/** Returns the context file of the project: the nearest one that exists, otherwise AGENTS.md at the root. */
export function projectMemoryFile(cwd: string): MemoryFile {
  const directories = listProjectDirectories(cwd);
  const root = directories.at(-1) ?? cwd;
  const paths = directories.flatMap((directory) => NAMES.map((name) => join(directory, name)));
  const existing = paths.find((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
  return { path: existing ?? join(root, 'AGENTS.md'), root };
}

/** Returns the user's own context file, which applies in every project. */
export function userMemoryFile(): MemoryFile {
  const environment = readEnvironment();
  const directory = userConfigDirectory({ environment, home: homeDirectory(environment) });
  const path = join(directory, 'AGENTS.md');
  // The user's own files may be links to anywhere, as dotfile managers make them.
  return { path, root: dirname(resolveInRoots(path, []).real) };
}

/** A line for the context file of the project or of the user. */
interface Note {
  readonly note: string;
  readonly scope: 'project' | 'user';
}

/** Adds a note to a context file. Resolves to a sentence that says where it is. Rejects with MusterError. */
export async function writeNote({ note, scope }: Note, cwd: string): Promise<string> {
  const file = scope === 'user' ? userMemoryFile() : projectMemoryFile(cwd);
  await addToMemoryFile(file, note);
  return `written to ${file.path}; new conversations and subagents read it`;
}

/** Adds a line at the end of a context file, and creates the file if it is missing. Rejects with MusterError. */
async function addToMemoryFile({ path, root }: MemoryFile, line: string): Promise<void> {
  const { real } = resolveInRoots(path, [root]);
  const stats = lstatSync(real, { bigint: true, throwIfNoEntry: false });
  const tooLarge = stats !== undefined && stats.size > MAX_BYTES;
  if (tooLarge || (stats !== undefined && !stats.isFile())) {
    const why = tooLarge ? `has more than ${MAX_BYTES} bytes` : 'is no file';
    throw new MusterError('INVALID_PARAM', `${path} ${why}: the note was not written`);
  }
  const before = stats === undefined ? '' : readFileSync(real, 'utf8');
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  const content = Buffer.from(`${before}${gap}- ${line}\n`);
  if (content.length > MAX_BYTES) {
    const message = `${path} would have more than ${MAX_BYTES} bytes: the note was not written`;
    throw new MusterError('LIMIT_EXCEEDED', message);
  }
  await writeFileInRoots(path, { roots: [root] }, content, stats ?? 'nothing');
}
