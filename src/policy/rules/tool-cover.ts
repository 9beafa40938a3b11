import type { PermissionRule, Rights } from '../../protocol/permission.ts';

const MCP = 'mcp__';

/** An `Edit` rule stands for every way to change a file's text, a `Read` rule for every way to see it. */
const FAMILIES: ReadonlyMap<string, readonly string[]> = new Map([
  ['Edit', ['MultiEdit', 'Write']],
  ['Read', ['LS', 'Glob', 'Grep', 'FileInfo', 'FindPlaces']],
  ['Grep', ['FindPlaces']],
]);
/** A file that is moved or deleted is changed: whoever is kept from that is kept from this. */
const CHANGING: ReadonlyMap<string, readonly string[]> = new Map([
  ['Edit', ['MoveFile', 'DeleteFile']],
  ['Write', ['MoveFile', 'DeleteFile']],
]);
/** Beyond that, where a rule refuses or asks: a file that is moved can be seen by another name. */
const SHOWING: ReadonlyMap<string, readonly string[]> = new Map([['Read', ['MoveFile']]]);

/**
 * Whether a name in a list of tools stands for a tool: the same; `Edit` for MultiEdit, which is several
 * edits; `Task` for RunTemplate, which delegates several times; `mcp__SERVER` or `mcp__SERVER__*` for a server's tools, `mcp__*` for those of all servers.
 */
export function nameCovers(name: string, tool: string): boolean {
  if (name === tool) return true;
  if (name === 'Edit') return tool === 'MultiEdit';
  if (name === 'Task') return tool === 'RunTemplate';
  return name.startsWith(MCP) && tool.startsWith(MCP) && mcpCovers(name, tool);
}

function mcpCovers(name: string, tool: string): boolean {
  if (name.endsWith('*')) return tool.startsWith(name.slice(0, -1));
  return !name.slice(MCP.length).includes('__') && tool.startsWith(`${name}__`);
}

/** Whether a rule is about a tool at all, its specifier aside. */
export function ruleCovers(
  rule: PermissionRule,
  tool: string,
  purpose: 'widen' | 'narrow',
): boolean {
  if (nameCovers(rule.tool, tool)) return true;
  if (FAMILIES.get(rule.tool)?.includes(tool) === true) return true;
  if (purpose === 'widen') return false;
  return [CHANGING, SHOWING].some((more) => more.get(rule.tool)?.includes(tool) === true);
}

/**
 * Whether a name in a list of denied tools stands for a tool: more than in a list of those that are
 * wanted, where `Edit` brings no tool that deletes.
 */
export function denialCovers(name: string, tool: string): boolean {
  return nameCovers(name, tool) || CHANGING.get(name)?.includes(tool) === true;
}

/** Whether a rule is about every call of its tools. */
export function coversWholeTool(rule: PermissionRule): boolean {
  return rule.specifier === undefined || rule.specifier === '*';
}

/** Whether a task with these rights is kept from a tool by name, its own rules aside. */
export function isToolDisallowed(rights: Rights, tool: string): boolean {
  return rights.disallowedTools.some((name) => denialCovers(name, tool));
}
