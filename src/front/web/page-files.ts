import { readFile } from 'node:fs/promises';
import { systemErrorCode } from '../../base/errors.ts';

/** The types of the files of which the page consists. No other file is served. */
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

const NAME = /^[\w-]{1,80}\.(\w{1,8})$/;

/** One file of the page. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer<ArrayBuffer>;
}

/**
 * Reads a file of the page, which the build has put beside this program. Returns null for a name that the page does not have.
 *
 * @param name relative to the directory of the page, such as `page-1a2b.js`
 * @param directory with a slash at its end
 */
export async function readPageFile(name: string, directory: URL): Promise<PageFile | null> {
  const type = TYPES[NAME.exec(name)?.[1] ?? ''];
  if (type === undefined) return null;
  try {
    return { type, bytes: await readFile(new URL(name, directory)) };
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ENOENT') return null;
    throw thrown;
  }
}

/** The directory of the page beside the bundled program. */
export const PAGE_DIRECTORY = new URL('./web/', import.meta.url);
