import { homedir } from 'node:os';
import { relative } from 'node:path';
import { exactLine } from '../../../../base/terminal-text.ts';
import { oneLine, plural, truncate } from '../../../../base/text.ts';
import { listedTools, type AgentDefinition, type AgentScope } from '../../../../protocol/agent.ts';
import type { PermissionMode } from '../../../../protocol/permission.ts';
import { isInside } from '../../../../sys/paths.ts';

/** A path as a person reads it, on one line: short where it lies below a directory that they know. */
export function shownPath(path: string, cwd: string, home = homedir()): string {
  if (isInside(cwd, path)) return exactLine(relative(cwd, path) || '.');
  if (home !== '/' && isInside(home, path)) return exactLine(`~/${relative(home, path)}`);
  return exactLine(path);
}

/** Where an agent comes from, in two or three words. */
export function shownOrigin({ scope, vendor }: { scope: AgentScope; vendor: string }): string {
  const whose = SCOPES[scope];
  return scope === 'builtin' || vendor === 'muster' ? whose : `${whose}, ${vendor}`;
}

const SCOPES: Readonly<Record<AgentScope, string>> = {
  session: 'this run',
  project: 'project',
  user: 'user',
  plugin: 'plugin',
  builtin: 'built in',
};

interface Modes {
  readonly permissionMode: string | null;
  readonly effectiveMode: PermissionMode;
}

/** What it gets, and what it asks for where that is another word. */
export function shownMode({ permissionMode, effectiveMode }: Modes): string {
  return permissionMode === null || permissionMode === effectiveMode
    ? effectiveMode
    : `${effectiveMode} (asks for ${exactLine(permissionMode)})`;
}

export function shownTools(agent: Pick<AgentDefinition, 'tools' | 'limitedTools'>): string {
  const { mode, names } = agent.tools;
  const list = exactLine(listedTools(agent).join(', '));
  if (mode === 'all') return 'the core set';
  if (mode === 'deny') return `the core set without ${list}`;
  return names.length === 0 ? 'none' : list;
}

/** Text on one line, cut by code points where it is longer. */
export function cutLine(text: string, most: number): string {
  const line = exactLine(oneLine(text));
  const cut = truncate(line, most);
  return cut.length < line.length ? `${truncate(line, most - 1).trimEnd()}…` : line;
}

/** Paths that a group names. */
const SHOWN_PATHS = 3;

/** `5 files (a.md, b.md, c.md and 2 more)`. */
export function pathGroup(paths: readonly string[]): string {
  const left = paths.length - SHOWN_PATHS;
  const more = left > 0 ? ` and ${left} more` : '';
  return `${plural(paths.length, 'file')} (${paths.slice(0, SHOWN_PATHS).join(', ')}${more})`;
}
