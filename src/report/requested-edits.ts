import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { PATCH_TOOL } from '../protocol/file-tools.ts';
import { toOwnArguments } from '../protocol/model-families/describe-tools.ts';
import { parsePatch } from '../protocol/patch.ts';

/** A change of text that a call requests. */
export interface RequestedEdit {
  /** The path as the model wrote it. */
  readonly path: string;
  /** The text that is replaced; null if a whole file is written. */
  readonly before: string | null;
  readonly after: string;
  readonly isEverywhere: boolean;
}

/**
 * Lists the text changes that a call of a tool that edits requests, in their order; an empty list for other calls and for a patch
 * that cannot be read.
 */
export function listRequestedEdits(tool: string, sent: JsonValue): readonly RequestedEdit[] {
  if (!isJsonObject(sent)) return [];
  if (tool === PATCH_TOOL) return listPatchEdits(sent);
  const input = toOwnArguments(tool, sent);
  const path = readText(input['file_path']);
  if (tool === 'Write') {
    return [{ path, before: null, after: readText(input['content']), isEverywhere: false }];
  }
  const { edits } = input;
  const list =
    tool === 'Edit' ? [input] : tool === 'MultiEdit' && Array.isArray(edits) ? edits : [];
  return list.filter(isJsonObject).map((edit) => ({
    path,
    before: readText(edit['old_string']),
    after: readText(edit['new_string']),
    isEverywhere: edit['replace_all'] === true,
  }));
}

function listPatchEdits(input: JsonObject): readonly RequestedEdit[] {
  const parsed = parsePatch(readPatchText(input));
  if (!parsed.ok) return [];
  return parsed.files.flatMap((part): readonly RequestedEdit[] => {
    const { path } = part;
    if (part.kind === 'add')
      return [{ path, before: null, after: part.content, isEverywhere: false }];
    if (part.kind === 'delete') return [];
    return part.chunks.map(({ lines }) => {
      const without = (dropped: string): string =>
        lines.flatMap(({ kind, text }) => (kind === dropped ? [] : `${text}\n`)).join('');
      return { path, before: without('add'), after: without('remove'), isEverywhere: false };
    });
  });
}

/** Returns the text of the patch that a call contains; empty if it contains none. */
export function readPatchText(input: JsonObject): string {
  return readText(toOwnArguments(PATCH_TOOL, input)['patch']);
}

function readText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
