import { createContext, Script } from 'node:vm';
import { lazy } from '../base/lazy.ts';
import {
  canonicalToolName,
  expandToolName,
  findNarrowerMeaning,
} from '../protocol/tool-aliases.ts';
import { CALL_HOOK_EVENTS, type HookEventName, type HookMatch } from '../protocol/hook.ts';

/** The maximum length of a matcher in characters (`hook_matcher_characters`). */
const MAX_MATCHER = 1_000;
/** The time for one comparison with a regular expression, which may backtrack almost without end (`hook_matcher_ms`). */
const MATCH_TIMEOUT_MS = 50;

/** A matcher of only these characters is a list of names. Any other matcher is a regular expression. */
const NAME_LIST = /^[\w\-\s,|]*$/;

/** Names in Claude Code that differ from Muster's and with which regular expressions are compared, too. */
const CLAUDE_NAMES: Readonly<Record<string, readonly string[]>> = {
  Task: ['Agent'],
  AskUser: ['AskUserQuestion'],
  TaskOutput: ['BashOutput'],
  TaskStop: ['KillShell'],
  TaskSend: ['SendMessage'],
  Code: ['LSP'],
  McpResource: ['ListMcpResourcesTool', 'ReadMcpResourceTool'],
  Edit: ['NotebookEdit'],
  Read: ['NotebookRead'],
};

/** Finds the reason why a matcher cannot be used; null if it can be used. */
export function findMatcherProblem(matcher: string): string | null {
  if (matcher.length > MAX_MATCHER)
    return `is too long (limit hook_matcher_characters = ${MAX_MATCHER})`;
  if (isForAll(matcher) || NAME_LIST.test(matcher)) return null;
  try {
    RegExp(matcher);
    return null;
  } catch {
    // The message of the engine repeats the pattern, which the file shows as well.
    return 'is neither a list of names nor a regular expression';
  }
}

/**
 * Compares a matcher with the value of an occasion. Empty and `*` match everything. Letters, digits, `_`, `-`, spaces,
 * `,` and `|` are a list of names, each of which must be equal. Everything else is a regular expression that has to match
 * a part. At events of tools, names of other products mean Muster's tools.
 *
 * @param value the value that the occasion has; null: it has none, so every matcher matches
 */
export function matchHook(matcher: string, value: string | null, event: HookEventName): HookMatch {
  if (value === null || isForAll(matcher)) return 'yes';
  const isTool = CALL_HOOK_EVENTS.has(event);
  if (!NAME_LIST.test(matcher)) return matchPattern(matcher, value, isTool);
  const names = matcher.split(/[|,]/).map((name) => name.trim());
  if (names.includes(value)) return 'yes';
  return isTool ? strongest(names.map((name) => matchAlias(name, value))) : 'no';
}

function isForAll(matcher: string): boolean {
  return matcher.trim() === '' || matcher.trim() === '*';
}

/** Compares a name of another product with a tool. A name that means less than the tool matches loosely. */
function matchAlias(name: string, tool: string): HookMatch {
  if (name === '' || expandToolName(name, '')?.includes(tool) !== true) return 'no';
  const isSame = canonicalToolName(name) === tool && findNarrowerMeaning(name) === undefined;
  return isSame ? 'yes' : 'loosely';
}

function matchPattern(matcher: string, value: string, isTool: boolean): HookMatch {
  const own = testPattern(matcher, value);
  if (own !== false) return own === true ? 'yes' : 'loosely';
  if (!isTool) return 'no';
  const others = CLAUDE_NAMES[value] ?? [];
  return strongest(
    others.map((name) => {
      const matches = testPattern(matcher, name);
      if (matches === false) return 'no';
      return matches === true && findNarrowerMeaning(name) === undefined ? 'yes' : 'loosely';
    }),
  );
}

function strongest(matches: readonly HookMatch[]): HookMatch {
  if (matches.includes('yes')) return 'yes';
  return matches.includes('loosely') ? 'loosely' : 'no';
}

const comparison = lazy(() => {
  const values: { pattern?: RegExp; text?: string } = {};
  // In Node.js only the run of a script can have a time limit. It also ends a regular expression.
  return { values, context: createContext(values), script: new Script('pattern.test(text)') };
});

/** Tests a text. Returns `unknown` if the pattern cannot be compiled, or if the time was too short. */
function testPattern(source: string, text: string): boolean | 'unknown' {
  const { values, context, script } = comparison();
  try {
    values.pattern = new RegExp(source);
    values.text = text;
    return script.runInContext(context, { timeout: MATCH_TIMEOUT_MS }) === true;
  } catch {
    // A guard must not be evaded by a name on which its pattern takes too long, so the caller treats it as a match.
    return 'unknown';
  }
}
