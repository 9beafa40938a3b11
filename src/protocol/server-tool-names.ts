import { matchesWildcard } from '../base/wildcard.ts';

/** The beginning of the names of all tools of MCP servers: `mcp__SERVER__TOOL`. */
const PREFIX = 'mcp__';
/** The maximum length of a tool's name with every provider. */
export const MAX_TOOL_NAME_LENGTH = 64;
/** The maximum length of the part that stands for the server, so that enough remains for the tool. */
export const MAX_SERVER_PART_LENGTH = 24;

/** Replaces the characters in the name of a tool that some provider refuses. */
export function cleanToolPart(name: string): string {
  return name.trim().replaceAll(/[^\w-]+/g, '_');
}

/** Returns a server's name without `__` and without `_` at its ends, so that the end of the server's part is known. */
export function cleanServerPart(name: string): string {
  return cleanToolPart(name)
    .replaceAll(/_{2,}/g, '_')
    .replaceAll(/^_+|_+$/g, '');
}

/** The two parts of a name or pattern. `tool` is undefined if there is no `__` after the part for the server. */
interface NameParts {
  readonly server: string;
  readonly tool: string | undefined;
}

function splitName(name: string): NameParts {
  const rest = name.slice(PREFIX.length);
  const end = rest.indexOf('__');
  if (end === -1) return { server: rest, tool: undefined };
  return { server: rest.slice(0, end), tool: rest.slice(end + 2) };
}

/** Returns `mcp__SERVER__*` for `mcp__SERVER`, which means the same, and any other name unchanged. */
function withToolPart(name: string): string {
  const { server, tool } = splitName(name);
  return tool === undefined && !server.includes('*') ? `${name}__*` : name;
}

/**
 * Tells whether a name in a rule or a list covers a tool of an MCP server. `mcp__SERVER` covers all tools of the server,
 * and `*` stands for any text, as in `mcp__SERVER__get_*`, `mcp__*__search` and `mcp__git*`.
 *
 * In a name with a part for the tool, a `*` of the server's part stays within this part if the name grants something:
 * `mcp__*__x` then covers the tools x of all servers, but not a tool `y__x`. If the name denies something, it covers all
 * tools that its text can mean.
 *
 * @param tool the name of a tool, or a pattern, which is covered if all tools that it covers are
 */
export function matchesServerTool(
  pattern: string,
  tool: string,
  purpose: 'widen' | 'narrow',
): boolean {
  if (!isServerToolName(pattern) || !isServerToolName(tool)) return false;
  const given = withToolPart(tool);
  const { server, tool: toolPart } = splitName(given);
  const ofPattern = splitName(pattern);
  if (ofPattern.tool === undefined && !pattern.includes('*')) return server === ofPattern.server;
  if (!matchesWildcard(pattern, given)) return false;
  if (purpose === 'narrow' || ofPattern.tool === undefined) return true;
  return (
    toolPart !== undefined &&
    matchesWildcard(ofPattern.server, server) &&
    matchesWildcard(ofPattern.tool, toolPart)
  );
}

/** Tells whether a name in a rule or a list can cover a tool of a server, by the server's part of the names. */
export function canNameServer(pattern: string, part: string): boolean {
  if (!isServerToolName(pattern)) return false;
  const { server, tool } = splitName(pattern);
  if (!pattern.includes('*')) return server === part;
  const beginning = `${PREFIX}${part}__`;
  if (tool === undefined) return matchesWildcard(pattern, beginning, { openEnded: true });
  return matchesWildcard(server, part);
}

/** Tells whether a name, in a rule or of a tool, is about tools of MCP servers. */
export function isServerToolName(name: string): boolean {
  return name.startsWith(PREFIX);
}

/**
 * Explains why a name about tools of MCP servers can cover none, and what to write instead. Returns undefined for a name
 * that can cover some.
 */
export function explainServerToolName(name: string): string | undefined {
  const { server, tool } = splitName(name);
  const write = (...texts: readonly string[]): string => `write ${texts.join(' or ')}`;
  const part = server.includes('*') ? server : cleanServerPart(server);
  if (part === '') return `it names no server; ${write('mcp__SERVER', 'mcp__SERVER__TOOL')}`;
  const toolPart = tool?.replaceAll(/[^\w*-]+/g, '_');
  if (tool === '') {
    const all = `${PREFIX}${part}`;
    return `it names no tool; ${write(part === server ? `${all} for all tools of the server` : all)}`;
  }
  const correct = `${PREFIX}${part}${toolPart === undefined ? '' : `__${toolPart}`}`;
  if (/[^\w*-]/.test(name)) {
    return `names of tools have only letters, digits, _ and -; ${write(correct.replaceAll(/[^\w*-]+/g, '_'))}`;
  }
  if (part !== server) return `no server's part begins or ends with _; ${write(correct)}`;
  const isTooLong =
    name.replaceAll('*', '').length > MAX_TOOL_NAME_LENGTH ||
    (tool !== undefined && server.replaceAll('*', '').length > MAX_SERVER_PART_LENGTH) ||
    (tool === undefined && server.replace(/\*.*$/s, '').length > MAX_SERVER_PART_LENGTH);
  if (isTooLong) {
    return `longer names are shortened to ${MAX_TOOL_NAME_LENGTH} characters, ${MAX_SERVER_PART_LENGTH} of them for the server; ${write('the shortened name, which questions show,', `a pattern such as ${PREFIX}${server.slice(0, 12).replaceAll('*', '')}*`)}`;
  }
  return undefined;
}

/**
 * Returns the pattern for all tools of the server that a wrong name means, such as `mcp__github__`, or for those of all
 * servers if the name does not say which one. It is for names that deny or ask.
 */
export function widenToServer(name: string): string {
  const { server } = splitName(name);
  const pattern = `${PREFIX}${cleanServerPart(server)}__*`;
  return server.includes('*') || explainServerToolName(pattern) !== undefined
    ? `${PREFIX}*`
    : pattern;
}
