import { isUtf8 } from 'node:buffer';
import { isId } from '../../base/ids.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { parseJsonLine } from '../../base/jsonl.ts';
import { isBlobHash } from '../blobs/blob-directory.ts';

const FORMAT = 'muster-export';
const EXPORT_VERSION = 1;
const SPILL_PATTERN = /^[0-9a-f]{16}$/;

/**
 * A line of an exported file. The file begins with a header. Then each task follows, parents first: its log line by
 * line, its output, its spill files, and the blobs that no earlier task referred to, each in pieces. The last line is
 * the end.
 */
export type ExportRecord =
  | { readonly kind: 'header'; readonly root: string }
  | { readonly kind: 'task'; readonly id: string }
  /** One line of the log, byte for byte, without its newline. */
  | { readonly kind: 'log'; readonly line: string }
  | { readonly kind: 'output'; readonly bytes: Buffer }
  /** `call` is the part of the file name that identifies the call. */
  | { readonly kind: 'spill'; readonly call: string; readonly bytes: Buffer }
  | { readonly kind: 'blob'; readonly hash: string; readonly bytes: Buffer }
  | { readonly kind: 'end'; readonly tasks: number };

/** Formats a record as a line, with its newline. */
export function formatRecord(record: ExportRecord): string {
  return `${JSON.stringify(toJson(record))}\n`;
}

function toJson(record: ExportRecord): JsonObject {
  switch (record.kind) {
    case 'header':
      return { format: FORMAT, v: EXPORT_VERSION, root: record.root };
    case 'task':
      return { task: record.id };
    case 'log':
      return { log: record.line };
    case 'output':
      return { output: true, ...formatContent(record.bytes) };
    case 'spill':
      return { spill: record.call, ...formatContent(record.bytes) };
    case 'blob':
      return { blob: record.hash, ...formatContent(record.bytes) };
    case 'end':
      return { end: true, tasks: record.tasks };
  }
}

/** Formats bytes as text if they are valid UTF-8, so that people can read the file. */
function formatContent(bytes: Buffer): JsonObject {
  return isUtf8(bytes) ? { text: bytes.toString('utf8') } : { base64: bytes.toString('base64') };
}

/** Parses a line. For a malformed line, returns a description of the fault: the end of a sentence about the line. */
export function parseRecord(line: string): ExportRecord | string {
  const value = parseJsonLine(line);
  if (!isJsonObject(value)) return 'is not a JSON object';
  const [first = ''] = Object.keys(value);
  switch (first) {
    case 'format':
      return parseHeader(value);
    case 'task':
      return typeof value['task'] === 'string' && isId(value['task']) && hasOnly(value, ['task'])
        ? { kind: 'task', id: value['task'] }
        : 'has no task id';
    case 'log':
      return parseLog(value);
    case 'output':
    case 'spill':
    case 'blob':
      return parseContent(value, first);
    case 'end':
      return value['end'] === true &&
        typeof value['tasks'] === 'number' &&
        hasOnly(value, ['end', 'tasks'])
        ? { kind: 'end', tasks: value['tasks'] }
        : 'is not a valid end';
    default:
      return 'is of an unknown kind';
  }
}

function hasOnly(value: JsonObject, keys: readonly string[]): boolean {
  return Object.keys(value).every((key) => keys.includes(key));
}

function parseHeader(value: JsonObject): ExportRecord | string {
  const { format, v, root } = value;
  if (format !== FORMAT || typeof v !== 'number') return 'is not the header of exported tasks';
  if (v > EXPORT_VERSION) {
    return `is from a newer Muster (export version ${v}, this one reads up to ${EXPORT_VERSION}): update Muster to import it`;
  }
  const isValid = typeof root === 'string' && isId(root) && hasOnly(value, ['format', 'v', 'root']);
  return isValid ? { kind: 'header', root } : 'has no root task';
}

function parseLog(value: JsonObject): ExportRecord | string {
  const { log } = value;
  const isLine = typeof log === 'string' && log.isWellFormed() && !log.includes('\n');
  return isLine && hasOnly(value, ['log']) ? { kind: 'log', line: log } : 'has no log line';
}

function parseContent(value: JsonObject, kind: 'output' | 'spill' | 'blob'): ExportRecord | string {
  const bytes = hasOnly(value, [kind, 'text', 'base64']) ? parseBytes(value) : undefined;
  if (bytes === undefined) return `has no content of kind ${kind}`;
  const name = value[kind];
  if (kind === 'output') return name === true ? { kind, bytes } : 'is not an output';
  if (typeof name !== 'string') return `has no name of a ${kind}`;
  if (kind === 'spill') {
    return SPILL_PATTERN.test(name) ? { kind, call: name, bytes } : 'has no name of a spill file';
  }
  return isBlobHash(name) ? { kind, hash: name, bytes } : 'has no hash of a blob';
}

function parseBytes({ text, base64 }: JsonObject): Buffer | undefined {
  if (typeof text === 'string' && base64 === undefined) {
    return text.isWellFormed() ? Buffer.from(text) : undefined;
  }
  if (typeof base64 !== 'string' || text !== undefined) return undefined;
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('base64') === base64 ? bytes : undefined;
}
