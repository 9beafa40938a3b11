import { relative } from 'node:path';
import { isInside } from '../../../base/path-inside.ts';
import { sanitizeLine } from '../../../base/terminal-text.ts';
import {
  offeredRules,
  type PermissionQuestion,
  type Question,
} from '../../../protocol/question.ts';

/** Formats the description of the task that asks; an empty text for the main agent. */
export function aboutText({ description }: Question): string {
  return description === undefined || description === '' ? '' : ` “${sanitizeLine(description)}”`;
}

/** Returns the part of the title after the agent's name. */
export function requestText(question: Question): string {
  if (question.kind === 'permission') return `asks to run ${question.tool}`;
  if (question.kind === 'server') return `passes on a question of MCP server ${question.server}`;
  return question.kind === 'plan' ? 'asks to carry out this plan' : 'asks';
}

/** Lists the texts that describe everything a call would do. Paths in the directory `cwd` are relative to it. */
export function requestedTexts(
  { commands, paths, hosts, input }: PermissionQuestion,
  cwd: string,
): readonly string[] {
  const shownPaths = paths.map((path) => shortPath(path, cwd));
  return [...commands, ...shownPaths, ...hosts, ...(input === null ? [] : [input])];
}

/** Lists the rules that "always" would add. Paths in the directory `cwd` are relative to it, as a file with rules may write them. */
export function offeredRuleTexts(question: Question, cwd: string): readonly string[] {
  return offeredRules(question).map((rule) => {
    const at = rule.indexOf('(') + 1;
    const start = `/${cwd}/`;
    return at > 0 && rule.startsWith(start, at)
      ? `${rule.slice(0, at)}./${rule.slice(at + start.length)}`
      : rule;
  });
}

/** Returns a path relative to a directory that contains it. A name that looks like another kind of path gets `./`. */
function shortPath(path: string, cwd: string): string {
  if (path === cwd || !isInside(cwd, path)) return path;
  const inside = relative(cwd, path);
  return /^[\w.]/.test(inside) ? inside : `./${inside}`;
}
