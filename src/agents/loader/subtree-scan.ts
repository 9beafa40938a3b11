import { realpathSync } from 'node:fs';
import { relative } from 'node:path';
import { DefinitionCollector, type DiscoveryResult } from './discovery-result.ts';
import type { DefinitionKind } from './format.ts';
import {
  readReferencedFile,
  MAX_DEFINITION_BYTES,
  readTextFile,
  type TextReading,
} from './read-text.ts';
import { walkFiles } from './walk.ts';

/** The maximum number of directory entries that are examined. */
const MAX_ENTRIES = 200_000;
/** The maximum number of levels of subdirectories that are searched. */
const MAX_DEPTH = 24;
/** The maximum number of bytes that are read. */
const MAX_BYTES = 1024 * 1024 * 1024;

/**
 * Finds every definition of a kind anywhere below a directory, to show it and not to use it. Therefore no file needs to
 * be trusted. Throws if the directory cannot be read.
 *
 * @param directory an absolute path
 */
export async function scanSubtree<T extends { readonly name: string }>(
  kind: DefinitionKind<T>,
  directory: string,
): Promise<DiscoveryResult<T>> {
  const formats = kind.searchOrder.flat();
  const boundary = realpathSync.native(directory);
  const collector = new DefinitionCollector(kind);
  const walk = walkFiles(directory, {
    accepts: (fileName) => formats.some((format) => format.accepts(fileName)),
    ownsFolder: kind.ownsFolder,
    boundary,
    budget: { entries: MAX_ENTRIES },
    maxDepth: MAX_DEPTH,
  });
  collector.skip(...walk.skipped);
  let remainingBytes = MAX_BYTES;
  for (const { path, realPath } of walk.files) {
    const text = remainingBytes < MAX_DEFINITION_BYTES ? TOO_MANY_BYTES : readTextFile(realPath);
    const fileText = text.ok ? text.text : '';
    const identified = await kind.scan.identify(relative(directory, path), fileText, directory);
    if (identified.kind === 'ignored') continue;
    if (!text.ok) {
      const problem = { code: text.code, message: text.reason, path };
      collector.add(path, { items: [], problems: [problem] });
      continue;
    }
    remainingBytes -= text.bytes;
    if (identified.kind === 'skipped') {
      collector.skip({ path, code: identified.code, reason: identified.reason });
      continue;
    }
    const definitions = await identified.format.read({
      path,
      scope: 'project',
      text: text.text,
      readReferenced: (referenced) => readReferencedFile(referenced, boundary),
    });
    collector.add(path, definitions);
  }
  return kind.scan.shadows ? collector.result() : collector.resultWithoutShadowing();
}

const TOO_MANY_BYTES: TextReading = {
  ok: false,
  code: 'too-many-bytes',
  reason: `Not read: the files before it already hold ${MAX_BYTES / 1024 / 1024} MB.`,
};
