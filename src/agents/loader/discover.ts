import type { Environment } from '../../sys/env.ts';
import {
  openProjectFiles,
  type ProjectFiles,
  type ProjectTrust,
} from '../../sys/files/project-file.ts';
import { DefinitionCollector, UNTRUSTED, type DiscoveryResult } from './discovery-result.ts';
import type { ReferencedText } from './format.ts';
import type { DefinitionKind } from './kind.ts';
import { listDefinitionFiles, type ListedFiles } from './list-files.ts';
import {
  readReferencedFile,
  MAX_DEFINITION_BYTES,
  projectText,
  readTextFile,
  type TextReading,
} from './read-text.ts';
import { createSearchContext, type SearchContext } from './search-context.ts';

export interface DiscoverOptions<T> {
  /** Absolute. */
  readonly cwd: string;
  readonly environment: Environment;
  /** Decides which files of the project may be used. The others are listed as skipped, and not parsed. */
  readonly trust: ProjectTrust;
  /** Definitions that have precedence over all files. Default: none. */
  readonly session?: readonly T[];
  /** The directories around `cwd` as they are now. Default: they are looked up. */
  readonly context?: SearchContext;
  /** Whether the definitions that ship with Muster are loaded where there are no others. Default: `always`. */
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
  const context = options.context ?? createSearchContext(options.cwd, options.environment);
  return (await readListedFiles(kind, listDefinitionFiles(kind, context), options)).result;
}

export interface ReadFiles<T> {
  readonly result: DiscoveryResult<T>;
  /** Absolute paths of other files that the definitions refer to. */
  readonly referencedFiles: readonly string[];
}

/** Reads the files that `listFiles` has listed. */
export async function readListedFiles<T extends { readonly name: string }>(
  kind: DefinitionKind<T>,
  listed: readonly ListedFiles<T>[],
  options: Pick<DiscoverOptions<T>, 'trust' | 'session' | 'builtins'>,
): Promise<ReadFiles<T>> {
  const collector = new DefinitionCollector(kind);
  collector.items.push(...(options.session ?? []));
  using projectFiles = openProjectFiles(options.trust);
  const reader = new ListedFileReader(kind, projectFiles, collector);
  for (const each of listed) await reader.readAll(each);
  if (options.builtins !== 'with-others' || collector.items.length > 0) {
    collector.items.push(...(await kind.loadBuiltins()));
  }
  const items = kind.merge?.(collector.items) ?? collector.items;
  return { result: collector.result(items), referencedFiles: [...reader.referencedFiles] };
}

class ListedFileReader<T extends { readonly name: string }> {
  readonly referencedFiles = new Set<string>();
  readonly #kind: DefinitionKind<T>;
  readonly #projectFiles: ProjectFiles;
  readonly #collector: DefinitionCollector<T>;
  #remainingBytes: number;

  constructor(
    kind: DefinitionKind<T>,
    projectFiles: ProjectFiles,
    collector: DefinitionCollector<T>,
  ) {
    this.#kind = kind;
    this.#projectFiles = projectFiles;
    this.#collector = collector;
    this.#remainingBytes = kind.maxTotalBytes;
  }

  async readAll(listed: ListedFiles<T>): Promise<void> {
    this.#collector.skip(...listed.skipped);
    const { format, scope } = listed.searchPath;
    for (const { path, realPath, directory } of listed.files) {
      const text = this.#readText(path, () => this.#readOwn(path, realPath, listed));
      if (!text.ok) {
        if (UNTRUSTED.has(text.code)) continue;
        const problem = { code: text.code, message: text.reason, path };
        this.#collector.add(path, { items: [], problems: [problem] });
        continue;
      }
      const definitions = await format.read({
        path,
        scope,
        text: text.text,
        ...(directory === undefined ? {} : { directory }),
        readReferenced: (referenced) => this.#readReferenced(referenced, listed),
      });
      this.#collector.add(path, definitions);
    }
  }

  #readOwn(path: string, realPath: string, listed: ListedFiles<T>): TextReading {
    const { searchPath, boundary } = listed;
    if (searchPath.scope !== 'project') return readTextFile(realPath);
    const { name: kind } = this.#kind;
    const request = { kind, path, boundary, maxBytes: MAX_DEFINITION_BYTES };
    return projectText(this.#projectFiles.read(request));
  }

  /** A file that a definition refers to needs the same trust as the definition. */
  #readReferenced(path: string, listed: ListedFiles<T>): ReferencedText {
    this.referencedFiles.add(path);
    return this.#readText(path, () =>
      readReferencedFile(path, listed.boundary, (real) => this.#readOwn(path, real, listed)),
    );
  }

  #readText(path: string, read: () => TextReading): TextReading {
    if (this.#remainingBytes <= 0) {
      const megabytes = this.#kind.maxTotalBytes / 1024 / 1024;
      const reason = `Not read: the ${this.#kind.name} files before it already hold ${megabytes} MB.`;
      return { ok: false, code: 'too-many-bytes', reason };
    }
    const text = read();
    if (text.ok) this.#remainingBytes -= text.bytes;
    else if (UNTRUSTED.has(text.code)) {
      this.#collector.skipUntrusted({ path, code: text.code, reason: text.reason });
    }
    return text;
  }
}
