import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { isInside } from '../../base/path-inside.ts';
import { plural, truncate } from '../../base/text.ts';
import { CODE_TOOL } from '../../protocol/file-tools.ts';
import type { CodePlace } from '../../protocol/languages.ts';
import { NO_ACCESS } from '../../protocol/permission.ts';
import type { AnyTool, PathExclusion, ToolContext, ToolOutput } from '../../protocol/tool.ts';
import { displayPath, toAbsolutePath } from '../../sys/files/paths.ts';
import { readFullFile } from '../../sys/files/read-file.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';
import { FILE_PATH_ALIASES, defineBuiltinTool } from '../shared/define-tool.ts';
import { MAX_EDIT_BYTES } from '../shared/file-text.ts';
import { failure, WithheldCounter } from '../shared/output.ts';
import type { ValueOf } from '../shared/schema.ts';

/** The maximum number of places in a result, and of characters of a line. */
const MAX_PLACES = 60;
const MAX_LINE_LENGTH = 160;

const INPUT = {
  type: 'object',
  properties: {
    action: {
      type: 'string',
      enum: ['definition', 'references', 'symbols', 'diagnostics', 'rename'],
    },
    file_path: { type: 'string' },
    symbol: { type: 'string' },
    line: { type: 'integer', minimum: 1 },
    new_name: { type: 'string' },
  },
  required: ['action'],
} as const;

type CodeInput = ValueOf<typeof INPUT>;

const tool = defineBuiltinTool({
  name: CODE_TOOL,
  kind: 'read',
  replay: 'pure',
  description:
    'Ask the language server. definition, references, rename (with new_name; changes all files): of symbol in file_path, near line if given. symbols: of file_path, or named symbol. diagnostics: of file_path.',
  input: INPUT,
  aliases: { ...FILE_PATH_ALIASES, operation: 'action', name: 'symbol', query: 'symbol' },
  describe: ({ file_path }, { cwd }) => ({
    ...NO_ACCESS,
    reads: [...new Set([toAbsolutePath(file_path ?? '.', cwd), cwd])],
  }),
  run: (input, context) => runCode(input, context),
});

/** Asks the language server of a project about its code. Its renames are edits, which are planned before they run. */
export const codeTool: AnyTool = {
  ...tool,
  parse(input) {
    const parsed = tool.parse(input);
    if (!parsed.ok) return parsed;
    const issue = findIssue(parsed.input);
    return issue === null ? parsed : { ok: false, issues: [issue] };
  },
  changePlan: {
    isNeeded: ({ action }: CodeInput) => action === 'rename',
    make: async (input: CodeInput, context) => {
      const { planRenameCall } = await import('./rename.ts');
      const { file_path = '', symbol = '', line = null, new_name: newName = '' } = input;
      return await planRenameCall({ path: file_path, symbol, line, newName }, tool, context);
    },
  },
};

/** Returns what is missing for the action, as a sentence. */
function findIssue({ action, file_path, symbol, new_name }: CodeInput): string | null {
  const needs = {
    definition: { file_path, symbol },
    references: { file_path, symbol },
    rename: { file_path, symbol, new_name },
    diagnostics: { file_path },
    symbols: file_path === undefined ? { symbol } : {},
  }[action];
  const missing = Object.entries(needs).find(([, value]) => value === undefined || value === '');
  return missing === undefined ? null : `${missing[0]}: is missing; ${action} needs it`;
}

async function runCode(input: CodeInput, context: ToolContext): Promise<ToolOutput> {
  const { action, file_path, symbol = '', line = null } = input;
  const { code } = context;
  if (code === undefined) return failure('NOT_FOUND', 'There is no language server.');
  const asked = toAbsolutePath(file_path ?? '.', context.cwd);
  const path = context.judged.get(asked)?.real ?? asked;
  if (action === 'rename') return failure('INTERNAL_ERROR', 'The rename was not planned.');
  // A missing file, or one outside of the workspace, is reported as for Read.
  if (file_path !== undefined && !isDirectory(path)) {
    await readFullFile(asked, context, { maxBytes: MAX_EDIT_BYTES, signal: context.signal });
  }
  if (action === 'diagnostics') {
    const listed = await code.listProblems(path);
    return listed.ok ? { text: listed.text } : failure(listed.error, listed.problem);
  }
  const answer = await code.answer(
    action !== 'symbols'
      ? { kind: action, path, symbol, line }
      : symbol === ''
        ? { kind: 'file_symbols', path }
        : { kind: 'named_symbols', path, symbol },
  );
  if (!answer.ok) return failure(answer.error, answer.problem);
  return { text: await formatPlaces(answer, context) };
}

/** Formats the places of an answer, with the text of their lines. Leaves out files that rules withhold. */
async function formatPlaces(
  { places, server }: { readonly places: readonly CodePlace[]; readonly server: string },
  context: ToolContext,
): Promise<string> {
  const { cwd } = context;
  const withheld = new WithheldCounter(createExclusion(context));
  const files = new Map<string, readonly string[]>();
  const visible = places.filter(({ path }) => !withheld.countWithheld(path));
  const lines: string[] = [];
  for (const { path, line, label, depth } of visible.slice(0, MAX_PLACES)) {
    const text = files.get(path) ?? (await readLines(path, context));
    files.set(path, text);
    const shown = label === '' ? (text[line - 1]?.trim() ?? '') : label;
    const place = `${'  '.repeat(Math.min(depth, 8))}${displayPath(path, cwd)}:${line}`;
    lines.push(shown === '' ? place : `${place}  ${truncate(shown, MAX_LINE_LENGTH)}`);
  }
  const more = visible.length - lines.length;
  return [
    ...(lines.length === 0 ? [`Nothing found (${server}).`] : lines),
    ...(more > 0 ? [`[${plural(more, 'place')} more]`] : []),
    ...withheld.notes(['place', 'places']),
  ].join('\n');
}

/** Creates a test for absolute paths, which may lie in any root of the task. */
function createExclusion(context: ToolContext): PathExclusion {
  const excluded = [context.cwd, ...context.roots].map((directory) => ({
    directory,
    rule: context.excludedPathsBelow({ asked: directory, real: directory }),
  }));
  return (path) => {
    for (const { directory, rule } of excluded) {
      const found = isInside(directory, path) ? rule?.(relative(directory, path)) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

/** Reads the lines of a file. Returns none if the task may not open it, or if it usually holds secrets. */
async function readLines(path: string, context: ToolContext): Promise<readonly string[]> {
  if (isSecretPath(path)) return [];
  try {
    const options = { maxBytes: MAX_EDIT_BYTES, signal: context.signal };
    const { bytes } = await readFullFile(path, context, options);
    return bytes.toString().split('\n');
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    // Libraries usually lie outside of the workspace. Their places are named without their text.
    return [];
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
