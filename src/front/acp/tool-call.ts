import type {
  ToolCallContent,
  ToolCallLocation,
  ToolKind,
} from '@agentclientprotocol/sdk/unstable';
import { resolve } from 'node:path';
import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { sanitizeForTerminal, sanitizeLine } from '../../base/terminal-text.ts';
import { truncate } from '../../base/text.ts';
import { callSubject } from '../../report/call-subject.ts';
import { listRequestedEdits } from '../../report/requested-edits.ts';
import { toOwnArguments } from '../../protocol/model-families/describe-tools.ts';

/** The fields with which a client shows a call. */
export interface ShownCall {
  readonly name: string;
  readonly title: string;
  readonly kind: ToolKind;
  readonly content?: ToolCallContent[];
  readonly locations?: ToolCallLocation[];
  readonly rawInput?: JsonValue;
}

/** The texts of a file before and after a change. */
export interface ChangedTexts {
  /** The absolute path. */
  readonly path: string;
  /** The text before the change; null: there was no file. */
  readonly before: string | null;
  readonly after: string;
}

/** The kinds of the tools whose kind is not `other`, as the protocol names them. */
const KINDS: Readonly<Record<string, ToolKind>> = {
  Read: 'read',
  FileInfo: 'read',
  LS: 'read',
  Glob: 'search',
  Grep: 'search',
  FindPlaces: 'search',
  Code: 'search',
  ToolSearch: 'search',
  WebSearch: 'search',
  WebFetch: 'fetch',
  Write: 'edit',
  Edit: 'edit',
  MultiEdit: 'edit',
  PatchFiles: 'edit',
  NotebookEdit: 'edit',
  DeleteFile: 'delete',
  MoveFile: 'move',
  Bash: 'execute',
  TodoWrite: 'think',
  ExitPlanMode: 'switch_mode',
};

/** The maximum length of a title, in UTF-16 units. */
const MAX_TITLE = 200;
/** The maximum length of the text of a result, in UTF-16 units. The log has the rest. */
const MAX_RESULT = 20_000;
/** The maximum length of arguments that are sent as they are, in UTF-16 units. */
const MAX_RAW_INPUT = 20_000;

/** Returns the kind of a tool; `other` for a tool of an MCP server, whose effects are not known. */
export function toKind(tool: string): ToolKind {
  return KINDS[tool] ?? 'other';
}

/** Describes a call for a client. `cwd`: the working directory of the task, to which relative paths refer. */
export function describeCall(tool: string, input: JsonValue, cwd: string): ShownCall {
  const edits = listRequestedEdits(tool, input).map(({ path, before, after }) => ({
    path: resolve(cwd, path),
    before,
    after,
  }));
  const locations = listLocations(input, cwd, tool, edits);
  const isSmall = JSON.stringify(input).length <= MAX_RAW_INPUT;
  return {
    name: tool,
    title: describeTitle(tool, input),
    kind: toKind(tool),
    ...(edits.length === 0 ? {} : { content: edits.map(toDiff) }),
    ...(locations.length === 0 ? {} : { locations }),
    ...(isSmall ? { rawInput: input } : {}),
  };
}

/** Returns the title of a call: the tool and what the call is about. */
function describeTitle(tool: string, input: JsonValue): string {
  const subject = sanitizeLine(callSubject(tool, input));
  if (subject === '') return tool;
  const title = tool === 'Bash' ? subject : `${tool} ${subject}`;
  return truncate(title, MAX_TITLE);
}

function listLocations(
  input: JsonValue,
  cwd: string,
  tool: string,
  edits: readonly Pick<ChangedTexts, 'path'>[],
): ToolCallLocation[] {
  if (edits.length > 0)
    return [...new Set(edits.map(({ path }) => path))].map((path) => ({ path }));
  if (!isJsonObject(input)) return [];
  const { file_path: file, path = file, offset } = toOwnArguments(tool, input);
  if (typeof path !== 'string' || path === '') return [];
  const line =
    typeof offset === 'number' && Number.isInteger(offset) && offset > 0 ? { line: offset } : {};
  return [{ path: resolve(cwd, path), ...line }];
}

/** Returns the content that shows a change of text. */
export function toDiff({ path, before, after }: ChangedTexts): ToolCallContent {
  return { type: 'diff', path, oldText: before, newText: after };
}

/** Returns the place of the first line that a change has changed. */
export function toLocation({ path, before, after }: ChangedTexts): ToolCallLocation {
  const old = (before ?? '').split('\n');
  const lines = after.split('\n');
  const first = lines.findIndex((line, index) => line !== old[index]);
  return { path, line: (first < 0 ? Math.max(0, lines.length - 1) : first) + 1 };
}

/** Returns the content with the result of a call. Terminal sequences are removed, and a long text is cut. */
export function toResultContent(text: string): ToolCallContent[] {
  if (text === '') return [];
  const cut =
    text.length <= MAX_RESULT
      ? text
      : `${text.slice(0, MAX_RESULT)}\n… (the rest is in the log of the task)`;
  return [toTextContent(sanitizeForTerminal(cut, 'plain'))];
}

/** Returns the content with a text of Muster. */
export function toTextContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } };
}
