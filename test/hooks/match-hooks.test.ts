import { describe, expect, it } from 'vitest';
import { findMatcherProblem, matchHook } from '../../src/hooks/match-hooks.ts';

describe('a matcher', () => {
  it.each([
    ['', 'Bash', 'yes'],
    ['*', 'Bash', 'yes'],
    [' * ', 'Bash', 'yes'],
    ['Bash', 'Bash', 'yes'],
    ['Bash', 'BashOther', 'no'],
    ['Edit|Write', 'Write', 'yes'],
    ['Edit, Write', 'Write', 'yes'],
    ['Edit|', 'Bash', 'no'],
    ['mcp__memory', 'mcp__memory__read', 'no'],
    ['mcp__memory__.*', 'mcp__memory__read', 'yes'],
    ['mcp__.*__write.*', 'mcp__memory__read', 'no'],
    ['^Ba', 'Bash', 'yes'],
    ['as+h$', 'Bash', 'yes'],
    ['Notebook.*', 'Bash', 'no'],
    // Names of other products mean Muster's tools.
    ['Agent', 'Task', 'yes'],
    ['shell|read_file', 'Read', 'yes'],
    ['^(Agent|X)$', 'Task', 'yes'],
    ['AskUser.+', 'AskUser', 'yes'],
    // A permission for a part of a tool is none for the tool.
    ['NotebookEdit', 'Edit', 'loosely'],
    ['^NotebookEdit$', 'Edit', 'loosely'],
    ['Notebook.*|Edit', 'Edit', 'yes'],
    ['apply_patch', 'Write', 'loosely'],
  ] as const)('%j compared with the tool %s: %s', (matcher, tool, expected) => {
    expect(matchHook(matcher, tool, 'PreToolUse')).toBe(expected);
  });

  it('compares other values exactly, and matches where there is none', () => {
    expect(matchHook('startup|resume', 'resume', 'SessionStart')).toBe('yes');
    expect(matchHook('shell', 'Bash', 'SubagentStart')).toBe('no');
    expect(matchHook('^Agent$', 'Task', 'SubagentStop')).toBe('no');
    expect(matchHook('anything', null, 'Stop')).toBe('yes');
  });

  it('runs the hook, but without its permission, if its pattern takes too long', () => {
    const name = `mcp__s__${'a'.repeat(60)}!`;
    expect(matchHook('(a+)+$', name, 'PreToolUse')).toBe('loosely');
    expect(matchHook('(a+)+b|(?:)', 'a', 'PreToolUse')).toBe('yes');
  });
});

it.each([
  ['', null],
  ['Bash|Edit', null],
  ['mcp__a__.*', null],
  ['[', 'is neither a list of names nor a regular expression'],
  ['x'.repeat(1_001), 'is too long (limit hook_matcher_characters = 1000)'],
])('finds the problem of the matcher %j', (matcher, problem) => {
  expect(findMatcherProblem(matcher)).toBe(problem);
});
