import { relative } from 'node:path';
import { sanitizeLine } from '../../../../base/terminal-text.ts';
import { collapseWhitespace, plural, truncate } from '../../../../base/text.ts';
import type { AgentScope } from '../../../../protocol/agent.ts';
import type { PermissionMode } from '../../../../protocol/permission.ts';
import { homeDirectory } from '../../../../sys/env.ts';
import { isInside } from '../../../../base/path-inside.ts';

/** Shortens a path for a person, on one line: relative to the project or the home directory. */
export function formatShortPath(path: string, cwd: string, home = homeDirectory()): string {
  if (isInside(cwd, path)) return sanitizeLine(relative(cwd, path) || '.');
  if (home !== '/' && isInside(home, path)) return sanitizeLine(`~/${relative(home, path)}`);
  return sanitizeLine(path);
}

/** Describes the origin of an agent in two or three words. */
export function formatOrigin({ scope, vendor }: { scope: AgentScope; vendor: string }): string {
  const origin = SCOPES[scope];
  return scope === 'builtin' || vendor === 'muster' ? origin : `${origin}, ${vendor}`;
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

/** Names the mode that an agent gets, and the mode that its definition requests if the two differ. */
export function formatMode({ permissionMode, effectiveMode }: Modes): string {
  return permissionMode === null || permissionMode === effectiveMode
    ? effectiveMode
    : `${effectiveMode} (asks for ${sanitizeLine(permissionMode)})`;
}

/** Puts a text on one line and cuts it to at most `maxLength` code points. */
export function cutLine(text: string, maxLength: number): string {
  const line = sanitizeLine(collapseWhitespace(text));
  const cut = truncate(line, maxLength);
  return cut.length < line.length ? `${truncate(line, maxLength - 1).trimEnd()}…` : line;
}

/** The maximum number of paths that are named in a group; the others are only counted. */
const SHOWN_PATHS = 3;

/** Formats a number of paths: `5 files (a.md, b.md, c.md and 2 more)`. */
export function formatPathGroup(paths: readonly string[]): string {
  const left = paths.length - SHOWN_PATHS;
  const more = left > 0 ? ` and ${left} more` : '';
  return `${plural(paths.length, 'file')} (${paths.slice(0, SHOWN_PATHS).join(', ')}${more})`;
}
