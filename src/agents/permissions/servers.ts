/** What a permission for tools of servers means here. */
export interface ServerTools {
  /** For lists of tools: `mcp__SERVER__*`, `mcp__PREFIX*`. */
  readonly names: readonly string[];
  /** The same for rules, which know only whole servers. */
  readonly rules: readonly string[];
  /** Whether the rules mean no more than was written. */
  readonly isExact: boolean;
}

/** Splits of a name that are tried: no real one has more. */
const MAX_SPLITS = 8;

/**
 * A name of tools as a vendor writes it: `SERVER_*`, `SERVER*`, or `SERVER_TOOL`, whose border can be
 * any `_` of it. Undefined: it can be no server's.
 */
export function mcpNamesOf(name: string): ServerTools | undefined {
  if (!/^[\w.*?-]+$/.test(name)) return undefined;
  const whole = /^([\w.-]+)_\*$/.exec(name)?.[1];
  if (whole !== undefined) {
    const server = `mcp__${whole}__*`;
    return { names: [server], rules: [server], isExact: true };
  }
  const prefix = /^([\w.-]+)\*$/.exec(name)?.[1];
  if (prefix !== undefined) {
    return { names: [`mcp__${prefix}*`], rules: ['mcp__*'], isExact: false };
  }
  if (/[*?]/.test(name)) return { names: ['mcp__*'], rules: ['mcp__*'], isExact: false };
  const parts = name.split('_');
  if (parts.length < 2) return undefined;
  if (parts.length > MAX_SPLITS) return { names: ['mcp__*'], rules: ['mcp__*'], isExact: false };
  const names = parts
    .slice(1)
    .map((_, at) => [parts.slice(0, at + 1), parts.slice(at + 1)].map((part) => part.join('_')))
    .filter(([server, tool]) => server !== '' && tool !== '')
    .map(([server, tool]) => `mcp__${server ?? ''}__${tool ?? ''}`);
  return names.length === 0 ? undefined : { names, rules: names, isExact: true };
}
