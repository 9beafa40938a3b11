import { isJsonObject, type JsonObject, type JsonValue } from '../../src/base/json.ts';
import { PATCH_TOOL } from '../../src/protocol/file-tools.ts';
import {
  MODEL_FAMILIES,
  type ModelFamily,
} from '../../src/protocol/model-families/model-families.ts';
import type { FileChange } from './solution.ts';

/** A call as the models of a family write it. */
export interface FamilyCall {
  readonly name: string;
  readonly input: JsonValue;
}

/** Finds the family in whose form a request offers its tools; null for Muster's own form. */
export function findOfferedFamily(offered: readonly string[]): ModelFamily | null {
  const editTools = (family: ModelFamily) =>
    [PATCH_TOOL, 'MultiEdit', 'Edit'].flatMap((tool) => family.tools[tool]?.name ?? []);
  return (
    MODEL_FAMILIES.find((family) => editTools(family).some((name) => offered.includes(name))) ??
    null
  );
}

/** Writes a call of one of Muster's tools in the form of a family. */
export function toFamilyCall(
  family: ModelFamily | null,
  tool: string,
  input: JsonObject,
): FamilyCall {
  const { name = tool, arguments: names = {} } = family?.tools[tool] ?? {};
  return { name, input: renameKeys(input, names) };
}

function renameKeys(input: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  const rename = (value: JsonValue): JsonValue => {
    if (Array.isArray(value)) return value.map(rename);
    return isJsonObject(value) ? renameKeys(value, names) : value;
  };
  const renamed: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(input)) {
    if (value !== undefined) renamed[names[key] ?? key] = rename(value);
  }
  return renamed;
}

/** Lists the calls with which a model of this family makes a change. */
export function editCalls(
  family: ModelFamily | null,
  changes: readonly FileChange[],
): readonly FamilyCall[] {
  if (family?.replaces[PATCH_TOOL] !== undefined) {
    const patch = ['*** Begin Patch', ...changes.flatMap(patchLines), '*** End Patch', ''];
    return [toFamilyCall(family, PATCH_TOOL, { patch: patch.join('\n') })];
  }
  return changes.flatMap((change) => replacements(change, family));
}

function patchLines({ path, before, after, hunks }: FileChange): readonly string[] {
  if (before === null) {
    const lines = after.split('\n').slice(0, after.endsWith('\n') ? -1 : undefined);
    return [`*** Add File: ${path}`, ...lines.map((line) => `+${line}`)];
  }
  return [`*** Update File: ${path}`, ...hunks.flatMap((hunk) => ['@@', ...hunk])];
}

/** Replaces each hunk; a file that is new, or in which a hunk is not unique, is written as a whole. */
function replacements(
  { path, before, after, hunks }: FileChange,
  family: ModelFamily | null,
): readonly FamilyCall[] {
  const edits = hunks.map((hunk) => ({
    old_string: textOf(hunk, '-'),
    new_string: textOf(hunk, '+'),
  }));
  const isUnique = edits.every(({ old_string: old }) => before?.split(old).length === 2);
  if (before === null || !isUnique) {
    return [toFamilyCall(family, 'Write', { file_path: path, content: after })];
  }
  if (family?.replaces['MultiEdit'] !== undefined) {
    return [toFamilyCall(family, 'MultiEdit', { file_path: path, edits })];
  }
  return edits.map((edit) => toFamilyCall(family, 'Edit', { file_path: path, ...edit }));
}

function textOf(hunk: readonly string[], sign: '-' | '+'): string {
  const lines = hunk.filter((line) => line.startsWith(' ') || line.startsWith(sign));
  return lines.map((line) => `${line.slice(1)}\n`).join('');
}
