/** `mcp__SERVER__TOOL`; all tools of a server are `mcp__SERVER` or `mcp__SERVER__*`. */
const MCP_NAME = /^mcp__[\w.*-]+$/;
/** `SERVER/TOOL` and `SERVER/*`. */
const SLASHED = /^([\w.-]+)\/([\w-]+|\*)$/;
/** Kiro's `@SERVER` and `@SERVER/TOOL`. */
const AT_SERVER = /^@([\w.-]+)(?:\/([\w-]+|\*))?$/;
/** Gemini CLI's `mcp_*`, `mcp_SERVER_*` and `mcp_SERVER_TOOL`: no server's name there holds a `_`. */
const UNDERSCORED = /^mcp_(?!_)(?:(\*)|([^_\s]+)_([\w*-]+))$/;
/** What stands before the slash in the names of VS Code's own tools. */
const EDITOR_SETS = new Set(
  'agent browser edit execute read runCommands runNotebooks runTasks search todo vscode web'.split(
    ' ',
  ),
);

/**
 * What any vendor writes for a tool of an MCP server, or for all of a server's, in Muster's words.
 * Undefined: it names none.
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
  // A dotted name before a tool's is a VS Code extension's; its tools exist in that editor only.
  if (server.includes('.') && tool !== '*') return undefined;
  return `mcp__${server}__${tool}`;
}

/** All tools of a server, or one, by the server's name as a file writes it: blanks and the like become `_`. */
export function serverTools(server: string, tool = '*'): string {
  const word = (name: string): string => name.trim().replaceAll(/[^\w.-]+/g, '_');
  return `mcp__${word(server)}__${tool === '*' ? tool : word(tool)}`;
}
