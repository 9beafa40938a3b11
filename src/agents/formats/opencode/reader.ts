import { dirname, join } from 'node:path';
import {
  isMarkdown,
  type DefinitionFile,
  type FormatReader,
  type FileDefinitions,
} from '../../loader/format.ts';
import { sharedPermissions, opencodeConfigPrompts, readOpencodeConfig } from './config.ts';
import { disabledProblem, opencodeDialect } from './dialect.ts';
import { readMarkdownAgent } from '../../fields/read-agent.ts';

/** The configuration files of a directory. The later one has precedence. */
const FILES = ['opencode.json', 'opencode.jsonc'];

/** The directories for agents. The last two are older, and only a person can choose the agents in them. */
const DIRECTORIES: ReadonlySet<string> = new Set(['agents', 'agent', 'modes', 'mode']);

/** Reads opencode's agents: `*.md` and the entries of `opencode.json`. */
export const opencodeReader: FormatReader = {
  read: (file) => (isMarkdown(file.path) ? readOpencodeMarkdown(file) : readOpencodeConfig(file)),
  referencedFiles: (path, text) => (isMarkdown(path) ? [] : opencodeConfigPrompts(path, text)),
};

async function readOpencodeMarkdown(file: DefinitionFile): Promise<FileDefinitions> {
  const { name, directory } = locationOf(file.path);
  const primary = directory === 'mode' || directory === 'modes';
  const common = configPaths(file.path).flatMap((path) => {
    const config = file.readReferenced?.(path);
    return config?.ok === true ? sharedPermissions(config.text) : [];
  });
  const dialect = opencodeDialect({ name, primary, common });
  const { items, problems } = await readMarkdownAgent(file, dialect);
  const disabled = items.map(disabledProblem).filter((problem) => problem !== undefined);
  return disabled.length > 0 ? { items: [], problems: disabled } : { items, problems };
}

/** Returns the configuration files that apply to an agent file. The one in the vendor's directory has precedence over the one next to it. */
function configPaths(path: string): readonly string[] {
  const parts = path.split('/');
  const own = parts.findLastIndex(
    (part, at) => at < parts.length - 1 && VENDOR_DIRECTORIES.has(part),
  );
  if (own < 0) return [];
  const directory = parts.slice(0, own + 1).join('/');
  const directories = parts[own] === '.opencode' ? [dirname(directory), directory] : [directory];
  return directories.flatMap((each) => FILES.map((name) => join(each, name)));
}

/** Returns the name of an agent, which is its path below the directory for agents: `agents/web/css.md` is `web/css`. */
function locationOf(path: string): { readonly name: string; readonly directory: string } {
  const parts = path.replace(/\.md$/i, '').split('/');
  const own = parts.findLastIndex(
    (part, at) => at < parts.length - 1 && VENDOR_DIRECTORIES.has(part),
  );
  const below = parts.findIndex(
    (part, at) => at > own && at < parts.length - 1 && DIRECTORIES.has(part),
  );
  return below < 0
    ? { name: parts.at(-1) ?? '', directory: '' }
    : { name: parts.slice(below + 1).join('/'), directory: parts[below] ?? '' };
}

const VENDOR_DIRECTORIES: ReadonlySet<string> = new Set(['.opencode', 'opencode']);
