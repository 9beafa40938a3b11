import { createGunzip } from 'node:zlib';
import { Readable } from 'node:stream';
import { errorMessage } from '../base/errors.ts';
import { PLUGIN_LIMITS, type PluginFileCollector } from './plugin-files.ts';

const BLOCK = 512;
/** The maximum size of an unpacked archive: its files, and a header for each of them. */
const MAX_UNPACKED_BYTES = PLUGIN_LIMITS.totalBytes + PLUGIN_LIMITS.files * 4 * BLOCK;
/** The directory in which `npm pack` puts all files. */
const TOP_DIRECTORY = /^[^/]+\//;

/** Unpacks a gzipped archive in memory. Throws what `files` throws for an archive that is damaged or too large. */
export async function unzipArchive(bytes: Buffer, files: PluginFileCollector): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of Readable.from([bytes]).pipe(
      createGunzip(),
    ) as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_UNPACKED_BYTES) break;
      chunks.push(chunk);
    }
  } catch (thrown) {
    throw files.refuse(`it is not a gzipped archive: ${errorMessage(thrown)}`);
  }
  if (size > MAX_UNPACKED_BYTES) {
    throw files.refuse(
      `it is larger than ${Math.round(MAX_UNPACKED_BYTES / 1024 / 1024)} MB when it is unpacked`,
    );
  }
  return Buffer.concat(chunks);
}

/**
 * Adds the files of a tar archive, without the top directory in which `npm pack` puts them. Throws what `files` throws
 * for a link, a device, or a path that leads out of the directory.
 */
export function readTar(archive: Buffer, files: PluginFileCollector): void {
  let longPath: string | null = null;
  for (let at = 0; at + BLOCK <= archive.length;) {
    const header = archive.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) return;
    if (!hasValidChecksum(header)) throw files.refuse('the archive is damaged');
    const size = readOctal(header, 124, 12);
    const start = at + BLOCK;
    if (size === null || start + size > archive.length) {
      throw files.refuse('the archive is damaged or was cut off');
    }
    const content = archive.subarray(start, start + size);
    at = start + Math.ceil(size / BLOCK) * BLOCK;
    const path: string = longPath ?? readHeaderPath(header);
    const type = String.fromCharCode(header[156] ?? 0);
    if (type === 'x') {
      longPath = readPaxPath(content) ?? longPath;
      continue;
    }
    if (type === 'L') {
      longPath = readText(content);
      continue;
    }
    // Global headers describe the archive, and directories follow from their files.
    if (type === 'g' || type === '5') {
      longPath = null;
      continue;
    }
    longPath = null;
    if (type !== '0' && type !== '\0' && type !== '7') {
      throw files.refuse(`${path} is a link or a device`);
    }
    if (!TOP_DIRECTORY.test(path)) throw files.refuse(`${path} is outside of the top directory`);
    const relative = path.replace(TOP_DIRECTORY, '');
    if (path.startsWith('/') || path.split('/').includes('..')) {
      throw files.refuse(`the path ${path} leads out of its directory`);
    }
    const mode = readOctal(header, 100, 8) ?? 0;
    files.add({ path: relative, bytes: Buffer.from(content), isExecutable: (mode & 0o100) !== 0 });
  }
  throw files.refuse('the archive was cut off');
}

function hasValidChecksum(header: Buffer): boolean {
  const expected = readOctal(header, 148, 8);
  let sum = 0;
  for (const [index, byte] of header.entries()) sum += index >= 148 && index < 156 ? 32 : byte;
  return sum === expected;
}

/** Reads an octal number. Returns null for a number in another form. */
function readOctal(header: Buffer, at: number, length: number): number | null {
  const text = readText(header.subarray(at, at + length)).trim();
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : null;
}

function readHeaderPath(header: Buffer): string {
  const name = readText(header.subarray(0, 100));
  const isUstar = header.toString('latin1', 257, 262) === 'ustar';
  const prefix = isUstar ? readText(header.subarray(345, 500)) : '';
  return prefix === '' ? name : `${prefix}/${name}`;
}

function readText(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('utf8', 0, end === -1 ? bytes.length : end);
}

/** Returns the path in an extended header, whose records have the form `LENGTH KEY=VALUE\n`. */
function readPaxPath(content: Buffer): string | null {
  let path: string | null = null;
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(32, at);
    const length = space === -1 ? Number.NaN : Number(content.toString('latin1', at, space));
    if (!Number.isInteger(length) || length <= space - at) return path;
    const record = content.toString('utf8', space + 1, at + length - 1);
    if (record.startsWith('path=')) path = record.slice('path='.length);
    at += length;
  }
  return path;
}
