import { relative } from 'node:path';
import type { Rights } from '../protocol/permission.ts';
import type { ResolvedCall, CallPath } from './call.ts';
import { isInside, listPaths } from './call.ts';
import { parseCommandLine, removeNeutralOptionsFromLine } from './rules/command-rules.ts';
import { escapePathPattern } from './rules/path-pattern.ts';
import { findAllowingRule } from './rules/match-rules.ts';
import { parseRule, printRule } from './rules/rules.ts';
import type { ShellParser } from './shell/parsed-line.ts';
import { specifierKind } from '../protocol/specifier-kind.ts';

const MAX_COMMAND = 300;

interface AllowFacts {
  readonly home: string;
  readonly shellParser: ShellParser | null;
}

/**
 * The narrowest useful rule that would let a call run: this command, the directory of this file, this
 * host. The whole tool where no narrower one would do.
 */
export function suggestRule(call: ResolvedCall, rights: Rights, facts: AllowFacts): string {
  const candidates = [plainCommandRule(call, facts), narrowRule(call, rights)];
  const found = candidates.find(
    (each) => each !== undefined && wouldAllow(each, call, { rights, facts }),
  );
  return found ?? printRule({ tool: call.tool });
}

function wouldAllow(
  text: string,
  call: ResolvedCall,
  { rights, facts }: { readonly rights: Rights; readonly facts: AllowFacts },
): boolean {
  const parsed = parseRule({ text, source: { kind: 'builtin', where: 'suggestion' } });
  if (!parsed.ok) return false;
  const { home, shellParser } = facts;
  if (specifierKind(call.tool) === 'command' && shellParser === null) return false;
  const place = { roots: rights.roots, home };
  const commands = () => call.access.commands.map((each) => parseCommandLine(each, shellParser));
  return (
    findAllowingRule([parsed.rule], { call, bases: place, parseCommands: commands }) !== undefined
  );
}

/** For `git --no-pager push` the rule for `git push`, which covers both. */
function plainCommandRule(
  { tool, access }: ResolvedCall,
  { shellParser }: AllowFacts,
): string | undefined {
  const [line = ''] = access.commands;
  if (specifierKind(tool) !== 'command' || line.length > MAX_COMMAND) return undefined;
  const specifier = removeNeutralOptionsFromLine(parseCommandLine(line, shellParser));
  return specifier === undefined ? undefined : printRule({ tool, specifier });
}

function narrowRule(call: ResolvedCall, rights: Rights): string | undefined {
  const { tool, access } = call;
  switch (specifierKind(tool)) {
    case 'command': {
      const line = access.commands[0]?.trim() ?? '';
      return line.length > MAX_COMMAND ? undefined : printRule({ tool, specifier: line });
    }
    case 'path': {
      const specifier = directoryPattern(listPaths(access), rights.roots);
      if (specifier === undefined) return undefined;
      const isEdit = tool === 'Write' || tool === 'MultiEdit';
      return printRule({ tool: isEdit ? 'Edit' : tool, specifier });
    }
    case 'domain':
      return printRule({ tool, specifier: `domain:${access.hosts[0] ?? ''}` });
    case 'agent':
      return printRule({ tool, specifier: access.agent ?? '' });
    case 'skill':
      return printRule({ tool, specifier: access.skill ?? '' });
    case undefined:
      return undefined;
  }
}

/** All that lies in the directory of the first path; of the working directory itself, only the file. */
function directoryPattern(
  paths: readonly CallPath[],
  roots: readonly string[],
): string | undefined {
  const path = paths[0]?.real;
  const cwd = roots[0];
  if (path === undefined || cwd === undefined) return undefined;
  if (!isInside(cwd, path)) return `/${escapePathPattern(path.slice(0, path.lastIndexOf('/')))}/**`;
  const file = relative(cwd, path);
  const directory = file.slice(0, Math.max(0, file.lastIndexOf('/')));
  return directory === '' ? `./${escapePathPattern(file)}` : `${escapePathPattern(directory)}/**`;
}

/** How a call that plan mode refuses could run; only the main agent's mode is the user's to choose. */
export function suggestModeFlag(call: ResolvedCall, rights: Rights): string | undefined {
  if (rights.depth > 0) return undefined;
  return call.kind === 'edit' ? '--permission-mode acceptEdits' : '--permission-mode default';
}
