import {
  FILE_READING_TOOLS,
  FILE_REMOVING_TOOLS,
  PATCH_TOOL,
  TEXT_EDITING_TOOLS,
} from '../../protocol/file-tools.ts';
import type { PermissionRule, Rights } from '../../protocol/permission.ts';
import { matchesServerTool } from '../../protocol/server-tool-names.ts';
import { isResourceTool, RESOURCE_TOOL } from '../../protocol/tool-names.ts';

/**
 * The tools that a rule covers besides its own: an `Edit` rule covers all tools that change text, and a `Read` rule all
 * tools that show it.
 */
const FAMILIES: ReadonlyMap<string, readonly string[]> = new Map([
  ['Edit', TEXT_EDITING_TOOLS],
  ['Read', FILE_READING_TOOLS],
  ['Grep', ['FindPlaces']],
]);
/** A deny or ask rule about changing files also covers moving and deleting them, and patches. */
const CHANGING_TOOLS: ReadonlyMap<string, readonly string[]> = new Map([
  ['Edit', FILE_REMOVING_TOOLS],
  ['Write', [...FILE_REMOVING_TOOLS, PATCH_TOOL]],
  ['MultiEdit', [PATCH_TOOL]],
]);
/**
 * A deny or ask rule about reading also covers moving, since a moved file can be read under another name, and patches,
 * which need not have read a file, and whose errors quote its lines.
 */
const REVEALING_TOOLS: ReadonlyMap<string, readonly string[]> = new Map([
  ['Read', ['MoveFile', PATCH_TOOL]],
]);

/**
 * Tells whether a name in a list of tools covers a tool. Besides the tool of that name, `Edit` covers MultiEdit and
 * PatchFiles, which are several edits, `Task` covers RunTemplate, which delegates several times, `McpResource` covers
 * reading the resources of all servers, and names of MCP tools may be patterns (see `matchesServerTool`).
 *
 * @param purpose `narrow` in a list that denies. Default: `widen`
 */
export function nameCovers(
  name: string,
  tool: string,
  purpose: 'widen' | 'narrow' = 'widen',
): boolean {
  if (name === tool) return true;
  if (name === 'Edit') return tool === 'MultiEdit' || tool === PATCH_TOOL;
  if (name === 'Task') return tool === 'RunTemplate';
  if (name === RESOURCE_TOOL) return isResourceTool(tool);
  return matchesServerTool(name, tool, purpose);
}

/**
 * Tells whether a rule covers a tool, without regard to the specifier.
 *
 * @param purpose `narrow` for deny and ask rules, which cover more tools than allow rules
 */
export function ruleCovers(
  rule: PermissionRule,
  tool: string,
  purpose: 'widen' | 'narrow',
): boolean {
  if (nameCovers(rule.tool, tool, purpose)) return true;
  if (FAMILIES.get(rule.tool)?.includes(tool) === true) return true;
  if (purpose === 'widen') return false;
  return [CHANGING_TOOLS, REVEALING_TOOLS].some(
    (more) => more.get(rule.tool)?.includes(tool) === true,
  );
}

/**
 * Tells whether a name in a list of denied tools covers a tool. Names cover more tools in such a list than in a list of
 * allowed tools, in which `Edit` does not include tools that move or delete files.
 */
export function denialCovers(name: string, tool: string): boolean {
  return nameCovers(name, tool, 'narrow') || CHANGING_TOOLS.get(name)?.includes(tool) === true;
}

/** Tells whether a rule applies to every call of its tools. */
export function coversWholeTool(rule: PermissionRule): boolean {
  return rule.specifier === undefined || rule.specifier === '*';
}

/** Tells whether the list of disallowed tools in these rights contains a tool. Rules are not considered. */
export function isToolDisallowed(rights: Rights, tool: string): boolean {
  return rights.disallowedTools.some((name) => denialCovers(name, tool));
}
