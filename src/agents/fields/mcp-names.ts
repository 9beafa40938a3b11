/** `mcp__SERVER__TOOL`; all tools of a server are `mcp__SERVER` or `mcp__SERVER__*`. */
const MCP_NAME = /^mcp__[\w.*-]+$/;
/** `SERVER/TOOL` and `SERVER/*`. */
const SLASHED = /^([\w.-]+)\/([\w-]+|\*)$/;
/** `@SERVER` and `@SERVER/TOOL`, as Kiro writes them. */
const AT_SERVER = /^@([\w.-]+)(?:\/([\w-]+|\*))?$/;
/** `mcp_*`, `mcp_SERVER_*` and `mcp_SERVER_TOOL`, as Gemini CLI writes them. Names of servers there have no `_`. */
const UNDERSCORED = /^mcp_(?!_)(?:(\*)|([^_\s]+)_([\w*-]+))$/;
/** The part before the slash in the names of VS Code's own tools. */
const EDITOR_SETS = new Set(
  'agent browser edit execute read runCommands runNotebooks runTasks search todo vscode web'.split(
    ' ',
  ),
);

/**
 * Returns Muster's name for a tool of an MCP server, or for all tools of a server, from any vendor's name.
 * Undefined: it names neither.
 */
export function mcpToolName(word: string): string | undefined {
  if (word.startsWith('mcp__')) return MCP_NAME.test(word) ? word : undefined;
  const underscored = UNDERSCORED.exec(word);
  if (underscored !== null) {
    const [, every, server, tool] = underscored;
    return every === undefined ? `mcp__${server}__${tool}` : 'mcp__*';
  }
  const at = AT_SERVER.exec(word);
  if (at !== null) return `mcp__${at[1]}__${at[2] ?? '*'}`;
  const [, server, tool] = SLASHED.exec(word) ?? [];
  if (server === undefined || EDITOR_SETS.has(server)) return undefined;
  // A name with a dot before the tool is that of a VS Code extension, whose tools exist only in that editor.
  if (server.includes('.') && tool !== '*') return undefined;
  return `mcp__${server}__${tool}`;
}

/** Returns Muster's name for one or all tools of a server. Characters that a name cannot have become `_`. */
export function mcpServerTools(server: string, tool = '*'): string {
  const clean = (name: string): string => name.trim().replaceAll(/[^\w.-]+/g, '_');
  return `mcp__${clean(server)}__${tool === '*' ? tool : clean(tool)}`;
}
