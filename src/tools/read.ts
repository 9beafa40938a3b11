import { createHash, type Hash } from 'node:crypto';
import type { ToolContext, ToolOutput } from '../protocol/tool.ts';
import { plural } from '../base/text.ts';
import type { OpenFile } from '../sys/open-in-roots.ts';
import { absolutePath, displayPath } from '../sys/paths.ts';
import { fileChunks, withFile } from '../sys/read-file.ts';
import { defineTool } from './define.ts';
import { FILE_PATH, FILE_PATH_ALIASES } from './fields.ts';
import { binaryKind, SAMPLE_BYTES } from './file-text.ts';
import { MAX_EDIT_BYTES, statFingerprint } from './fingerprint.ts';
import { LineWindow } from './line-window.ts';
import { failure } from './output.ts';
import { withSuggestion } from './paths.ts';

const DEFAULT_LINES = 2000;
/** For the notes after the lines. */
const NOTE_BYTES = 600;

export const readTool = defineTool({
  name: 'Read',
  kind: 'read',
  replay: 'pure',
  description:
    'Read a text file. Lines come as number, tab, text; up to 2000 lines of 2000 characters at once. Read a large file in parts with offset and limit.',
  input: {
    type: 'object',
    properties: {
      file_path: FILE_PATH,
      offset: { type: 'integer', minimum: 1, description: 'first line, from 1' },
      limit: { type: 'integer', minimum: 1, description: 'number of lines' },
    },
    required: ['file_path'],
  },
  aliases: { ...FILE_PATH_ALIASES, start_line: 'offset', max_lines: 'limit' },
  describe: (input, { cwd }) => ({
    reads: [absolutePath(input.file_path, cwd)],
    writes: [],
    commands: [],
    hosts: [],
  }),
  async run(input, context) {
    const path = absolutePath(input.file_path, context.cwd);
    const range = { first: input.offset ?? 1, count: input.limit ?? DEFAULT_LINES };
    try {
      return await withFile(path, context, (file) => readLines(file, range, context));
    } catch (thrown) {
      throw withSuggestion(thrown, path, context);
    }
  },
});

interface Range {
  readonly first: number;
  readonly count: number;
}

async function readLines(file: OpenFile, range: Range, context: ToolContext): Promise<ToolOutput> {
  const window = new LineWindow({ ...range, maxBytes: context.caps.readBytes - NOTE_BYTES });
  const hash = createHash('sha256');
  const mayStopEarly = file.stats.size > BigInt(MAX_EDIT_BYTES);
  let size = 0;
  let stopped = false;
  for await (const chunk of fileChunks(file, context.signal)) {
    const kind = size === 0 ? binaryKind(chunk.subarray(0, SAMPLE_BYTES)) : undefined;
    if (kind !== undefined) return binaryFile(file, kind, context);
    size += chunk.length;
    if (!mayStopEarly) hash.update(chunk);
    window.push(chunk);
    stopped = mayStopEarly && window.isFull;
    if (stopped) break;
  }
  if (!stopped) window.end();
  const fingerprint = mayStopEarly ? statFingerprint(file) : digest(hash);
  context.files.remember(file.real, fingerprint);
  return {
    text: describeWindow(window, range, { empty: size === 0, stopped }),
    facts: { read: [{ path: file.real, hash: fingerprint }] },
  };
}

function digest(hash: Hash): string {
  return hash.digest('hex');
}

function binaryFile(file: OpenFile, kind: string, context: ToolContext): ToolOutput {
  const shown = displayPath(file.real, context.cwd);
  return failure(
    'INVALID_PARAM',
    `${shown} is not text: ${kind}, ${plural(Number(file.stats.size), 'byte')}. Its contents are not shown.`,
  );
}

function describeWindow(
  window: LineWindow,
  range: Range,
  file: { readonly empty: boolean; readonly stopped: boolean },
): string {
  if (file.empty) return '[the file is empty]';
  if (window.lines.length === 0 && !window.outOfBytes) {
    return `[the file has only ${plural(window.total, 'line')}: nothing at offset ${range.first}]`;
  }
  return [...window.lines, ...notes(window, file.stopped)].join('\n');
}

function notes(window: LineWindow, stopped: boolean): string[] {
  const told: string[] = [];
  if (stopped || window.next <= window.total) {
    const of = stopped ? '' : ` of ${window.total}`;
    const why = window.outOfBytes ? ' (the size limit of one Read)' : '';
    told.push(`[up to line ${window.next - 1}${of}${why}; read on with offset ${window.next}]`);
  }
  if (window.lossy) told.push('[not valid UTF-8: odd bytes are shown as \uFFFD]');
  return told;
}
