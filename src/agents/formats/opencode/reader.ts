import { dirname, join } from 'node:path';
import type { DefinitionFile, FormatReader, FileDefinitions } from '../../loader/format.ts';
import { isMarkdown } from '../../loader/format.ts';
import { commonPermissions, opencodeConfigPrompts, readOpencodeConfig } from './config.ts';
import { disabledProblem, opencodeDialect } from './dialect.ts';
import { readMarkdownAgent } from '../../fields/read-agent.ts';

/** Of two settings of one thing the later counts. */
const FILES = ['opencode.json', 'opencode.jsonc'];

/** Directories of a configuration that hold agents; the last two are older, and a person's to choose from. */
const DIRECTORIES: ReadonlySet<string> = new Set(['agents', 'agent', 'modes', 'mode']);

/** opencode's agents: `*.md` and the entries of `opencode.json`. */
export const opencodeReader: FormatReader = {
  read: (file) => (isMarkdown(file.path) ? readOpencodeMarkdown(file) : readOpencodeConfig(file)),
  referencedFiles: (path, text) => (isMarkdown(path) ? [] : opencodeConfigPrompts(path, text)),
};

async function readOpencodeMarkdown(file: DefinitionFile): Promise<FileDefinitions> {
  const { name, directory } = placeOf(file.path);
  const primary = directory === 'mode' || directory === 'modes';
  const common = configPaths(file.path).flatMap((path) => {
    const config = file.readReferenced?.(path);
    return config?.ok === true ? commonPermissions(config.text) : [];
  });
  const dialect = opencodeDialect({ name, primary, common });
  const { items, problems } = await readMarkdownAgent(file, dialect);
  const disabled = items.map(disabledProblem).filter((problem) => problem !== undefined);
  return disabled.length > 0 ? { items: [], problems: disabled } : { items, problems };
}

/** The configurations that hold for the agents of a directory; the one in it goes before that beside it. */
function configPaths(path: string): readonly string[] {
  const parts = path.split('/');
  const own = parts.findLastIndex((part, at) => at < parts.length - 1 && OWNERS.has(part));
  if (own < 0) return [];
  const directory = parts.slice(0, own + 1).join('/');
  const directories = parts[own] === '.opencode' ? [dirname(directory), directory] : [directory];
  return directories.flatMap((each) => FILES.map((name) => join(each, name)));
}

/** The name of an agent is its path below the directory of agents: `agents/web/css.md` is `web/css`. */
function placeOf(path: string): { readonly name: string; readonly directory: string } {
  const parts = path.replace(/\.md$/i, '').split('/');
  const own = parts.findLastIndex((part, at) => at < parts.length - 1 && OWNERS.has(part));
  const below = parts.findIndex(
    (part, at) => at > own && at < parts.length - 1 && DIRECTORIES.has(part),
  );
  return below < 0
    ? { name: parts.at(-1) ?? '', directory: '' }
    : { name: parts.slice(below + 1).join('/'), directory: parts[below] ?? '' };
}

const OWNERS: ReadonlySet<string> = new Set(['.opencode', 'opencode']);
