import { isJsonObject } from '../../../base/json.ts';
import type { EntryContent } from './file-content.ts';
import { ProtectedFileBackup, type GitWritablePaths } from './file-backup.ts';

/** Converts a backup to JSON data from which another process can restore the files. */
export function serializeBackup(opened: ProtectedFileBackup): unknown {
  const files = [...opened.files()].map(({ path, kind, mode, content }) => {
    return { path, kind, mode, content: content.toString('base64') };
  });
  return { places: opened.paths, files };
}

/** Reads a backup from a record; null if there is none. `directory`: the directory for quarantined files. */
export function parseBackup(value: unknown, directory: string | null): ProtectedFileBackup | null {
  if (!isJsonObject(value) || !isJsonObject(value['places'])) return null;
  const { trees, configurations, links } = value['places'];
  const places: GitWritablePaths = {
    trees: strings(trees),
    configurations: strings(configurations),
    links: strings(links),
  };
  const files = Array.isArray(value['files']) ? value['files'].flatMap(fileOf) : [];
  return new ProtectedFileBackup(
    places,
    new Map(files.map((file) => [file.path, file])),
    directory,
  );
}

function fileOf(value: unknown): readonly EntryContent[] {
  if (!isJsonObject(value)) return [];
  const { path, kind, mode, content } = value;
  const isFile =
    typeof path === 'string' && typeof mode === 'number' && typeof content === 'string';
  if (!isFile || (kind !== 'file' && kind !== 'link')) return [];
  return [{ path, kind, mode, content: Buffer.from(content, 'base64') }];
}

function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
