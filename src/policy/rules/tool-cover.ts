import {
  FILE_READING_TOOLS,
  FILE_REMOVING_TOOLS,
  TEXT_EDITING_TOOLS,
} from '../../protocol/file-tools.ts';
import type { PermissionRule, Rights } from '../../protocol/permission.ts';
import { isResourceTool, RESOURCE_TOOL } from '../../protocol/tool-names.ts';

const MCP = 'mcp__';

/**
 * The tools that a rule covers besides its own: an `Edit` rule covers all tools that change text, and a `Read` rule all
 * tools that show it.
 */
const FAMILIES: ReadonlyMap<string, readonly string[]> = new Map([
  ['Edit', TEXT_EDITING_TOOLS],
  ['Read', FILE_READING_TOOLS],
  ['Grep', ['FindPlaces']],
]);
/** A deny or ask rule about changing files also covers moving and deleting them. */
const CHANGING_TOOLS: ReadonlyMap<string, readonly string[]> = new Map([
  ['Edit', FILE_REMOVING_TOOLS],
  ['Write', FILE_REMOVING_TOOLS],
]);
/** A deny or ask rule about reading also covers moving, since a moved file can be read under another name. */
const REVEALING_TOOLS: ReadonlyMap<string, readonly string[]> = new Map([['Read', ['MoveFile']]]);

/**
 * Tells whether a name in a list of tools covers a tool. Besides the tool of that name, `Edit` covers MultiEdit, which
 * is several edits, `Task` covers RunTemplate, which delegates several times, `mcp__SERVER` and `mcp__SERVER__*` cover
 * the tools of a server, and `mcp__*` those of all servers. `McpResource` covers reading the resources of all servers.
 */
export function nameCovers(name: string, tool: string): boolean {
  if (name === tool) return true;
  if (name === 'Edit') return tool === 'MultiEdit';
  if (name === 'Task') return tool === 'RunTemplate';
  if (name === RESOURCE_TOOL) return isResourceTool(tool);
  return name.startsWith(MCP) && tool.startsWith(MCP) && mcpCovers(name, tool);
}

function mcpCovers(name: string, tool: string): boolean {
  if (name.endsWith('*')) return tool.startsWith(name.slice(0, -1));
  return !name.slice(MCP.length).includes('__') && tool.startsWith(`${name}__`);
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
  if (nameCovers(rule.tool, tool)) return true;
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
  return nameCovers(name, tool) || CHANGING_TOOLS.get(name)?.includes(tool) === true;
}

/** Tells whether a rule applies to every call of its tools. */
export function coversWholeTool(rule: PermissionRule): boolean {
  return rule.specifier === undefined || rule.specifier === '*';
}

/** Tells whether the list of disallowed tools in these rights contains a tool. Rules are not considered. */
export function isToolDisallowed(rights: Rights, tool: string): boolean {
  return rights.disallowedTools.some((name) => denialCovers(name, tool));
}
