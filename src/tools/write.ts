import { MusterError } from '../base/errors.ts';
import { NO_ACCESS } from '../protocol/permission.ts';
import { plural } from '../base/text.ts';
import type { ToolContext } from '../protocol/tool.ts';
import { toAbsolutePath, displayPath } from '../sys/files/paths.ts';
import type { FullFile } from '../sys/files/read-file.ts';
import { readForChange, writeChange, type NewContent } from './shared/change-file.ts';
import { FILE_PATH, FILE_PATH_ALIASES, UTF_8, defineBuiltinTool } from './shared/define-tool.ts';
import { decodeForEdit, encodeLikeFile, convertLineEnds } from './shared/file-text.ts';
import { encodeText } from './shared/text-encoding.ts';

export const writeTool = defineBuiltinTool({
  name: 'Write',
  kind: 'edit',
  replay: 'checkable',
  ownWords: true,
  description:
    'Create a file, with its directories, or replace all of one that you have read. To change a part use Edit.',
  input: {
    type: 'object',
    properties: { file_path: FILE_PATH, content: { type: 'string' } },
    required: ['file_path', 'content'],
    ignored: ['instruction', 'instructions'],
    fixed: { command: ['create'], encoding: UTF_8, append: [false], create_directories: [true] },
  },
  aliases: {
    ...FILE_PATH_ALIASES,
    contents: 'content',
    text: 'content',
    file_text: 'content',
    file_content: 'content',
  },
  describe: (input, { cwd }) => ({ ...NO_ACCESS, writes: [toAbsolutePath(input.file_path, cwd)] }),
  proposes: (input, { cwd }) => [
    {
      path: toAbsolutePath(input.file_path, cwd),
      before: null,
      after: input.content,
      everywhere: false,
    },
  ],
  async run(input, context) {
    const path = toAbsolutePath(input.file_path, context.cwd);
    const shown = displayPath(path, context.cwd);
    const before = await readPrevious(path, context);
    const { keptNote, ...content } = prepareContent(shown, before, input.content);
    const { change, lost } = await writeChange(path, before, content, context);
    const verb = before === 'nothing' ? 'Created' : 'Replaced';
    const size = plural(countLines(content.text), 'line');
    return { text: `${verb} ${shown}: ${size}${keptNote}.${lost}`, facts: { changed: [change] } };
  },
});

async function readPrevious(path: string, context: ToolContext): Promise<FullFile | 'nothing'> {
  try {
    return await readForChange(path, context);
  } catch (thrown) {
    if (thrown instanceof MusterError && thrown.code === 'NOT_FOUND') return 'nothing';
    throw thrown;
  }
}

/** Prepares the new content with the encoding, the byte order mark and the line ends of the previous content. */
function prepareContent(
  shown: string,
  before: FullFile | 'nothing',
  content: string,
): NewContent & { readonly keptNote: string } {
  if (before === 'nothing') {
    const bytes = encodeText(shown, content, 'UTF-8');
    return { text: content, previous: '', bytes, keptNote: '' };
  }
  const file = decodeForEdit(shown, before.bytes);
  const { mark, encoding, lineEnd } = file;
  const unmarked = mark !== '' && content.startsWith(mark) ? content.slice(mark.length) : content;
  const text = convertLineEnds(unmarked, lineEnd);
  const keptProperties = [
    ...(encoding === 'UTF-8' ? [] : [`its encoding ${encoding}`]),
    ...(lineEnd === '\r\n' ? ['its CRLF line ends'] : []),
  ];
  const keptNote = keptProperties.length === 0 ? '' : ` (${keptProperties.join(' and ')} kept)`;
  return { text, previous: file.text, bytes: encodeLikeFile(shown, text, file), keptNote };
}

function countLines(content: string): number {
  if (content === '') return 0;
  const ends = content.split('\n').length - 1;
  return content.endsWith('\n') ? ends : ends + 1;
}
