import { dropMissing } from '../../base/drop-missing.ts';
import type { Environment } from '../../sys/env.ts';
import { openProjectFiles, type ProjectTrust } from '../../sys/files/project-file.ts';
import { DefinitionCollector, UNTRUSTED, type DiscoveryResult } from './discovery-result.ts';
import type { DefinitionKind, ReferencedText } from './format.ts';
import { listDefinitionFiles, type ListedFiles } from './list-files.ts';
import {
  readReferencedFile,
  MAX_DEFINITION_BYTES,
  projectText,
  readTextFile,
  type TextReading,
} from './read-text.ts';
import { createSearchContext, type InstalledPlugin, type SearchContext } from './search-context.ts';

/** The options of a search for definitions. */
export interface DiscoverOptions<T> {
  /** The absolute path of the directory in which the definitions would be used. */
  readonly cwd: string;
  readonly environment: Environment;
  /** Decides which files of the project may be used. The other files are listed as skipped, and are not parsed. */
  readonly trust: ProjectTrust;
  /** Definitions that have precedence over all files. Default: none. */
  readonly session?: readonly T[];
  /** The active plugins that were installed in Muster. Default: none. */
  readonly plugins?: readonly InstalledPlugin[];
  /** The search context of `cwd`. Default: it is created. */
  readonly context?: SearchContext;
  /**
   * Whether the definitions that ship with Muster are always loaded, or only if there are other definitions, too.
   * Default: `always`.
   */
  readonly builtins?: 'always' | 'with-others';
}

/**
 * Finds all definitions of a kind that can be used in a directory, in order of precedence. Never throws because
 * of the content of a file, and a file that cannot be loaded does not keep others from loading.
 */
export async function discoverDefinitions<T extends { readonly name: string }>(
  kind: DefinitionKind<T>,
  options: DiscoverOptions<T>,
): Promise<DiscoveryResult<T>> {
  const { cwd, environment, plugins } = options;
  const context = options.context ?? createSearchContext(cwd, environment, plugins);
  return (await readListedFiles(kind, listDefinitionFiles(kind, context), options)).result;
}

/** The result of reading the files of a search. */
export interface ReadFiles<T> {
  readonly result: DiscoveryResult<T>;
  /** The absolute paths of other files that the definitions refer to. */
  readonly referencedFiles: readonly string[];
}

/** Reads the files that `listDefinitionFiles` has listed. */
export async function readListedFiles<T extends { readonly name: string }>(
  kind: DefinitionKind<T>,
  listed: readonly ListedFiles<T>[],
  options: Pick<DiscoverOptions<T>, 'trust' | 'session' | 'builtins'>,
): Promise<ReadFiles<T>> {
  const collector = new DefinitionCollector(kind);
  collector.items.push(...(options.session ?? []));
  using projectFiles = openProjectFiles(options.trust);
  const referencedFiles = new Set<string>();
  let remainingBytes = kind.maxTotalBytes;

  const readFile = (path: string, realPath: string, from: ListedFiles<T>): TextReading => {
    const { searchPath, boundary } = from;
    if (searchPath.scope !== 'project') return readTextFile(realPath);
    const request = { kind: kind.name, path, boundary, maxBytes: MAX_DEFINITION_BYTES };
    return projectText(projectFiles.read(request));
  };

  const readText = (path: string, read: () => TextReading): TextReading => {
    if (remainingBytes <= 0) {
      const megabytes = kind.maxTotalBytes / 1024 / 1024;
      const reason = `Not read: the ${kind.name} files before it already hold ${megabytes} MB.`;
      return { ok: false, code: 'too-many-bytes', reason };
    }
    const text = read();
    if (text.ok) remainingBytes -= text.bytes;
    else if (UNTRUSTED.has(text.code)) {
      collector.skipUntrusted({ path, code: text.code, reason: text.reason });
    }
    return text;
  };

  /** Reads a file that a definition refers to. This file needs the same trust as the file of the definition. */
  const readReferenced = (path: string, from: ListedFiles<T>): ReferencedText => {
    referencedFiles.add(path);
    return readText(path, () =>
      readReferencedFile(path, from.boundary, (real) => readFile(path, real, from)),
    );
  };

  for (const each of listed) {
    collector.skip(...each.skipped);
    const { format, scope } = each.searchPath;
    for (const { path, realPath, directory, locatedName } of each.files) {
      const read = readText(path, () => readFile(path, realPath, each));
      if (read.ok) {
        const file = {
          path,
          scope,
          text: read.text,
          ...dropMissing({ directory, locatedName }),
          readReferenced: (referenced: string) => readReferenced(referenced, each),
        };
        collector.add(path, await format.read(file));
      } else if (!UNTRUSTED.has(read.code)) {
        const problem = { code: read.code, message: read.reason, path };
        collector.add(path, { items: [], problems: [problem] });
      }
    }
  }
  if (options.builtins !== 'with-others' || collector.items.length > 0) {
    collector.items.push(...(await kind.loadBuiltins()));
  }
  const items = kind.merge?.(collector.items) ?? collector.items;
  return { result: collector.result(items), referencedFiles: [...referencedFiles] };
}
