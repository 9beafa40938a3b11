import { expect, it } from 'vitest';
import { matchHookCondition } from '../../src/policy/hook-condition.ts';
import type { ResolvedCall } from '../../src/policy/call.ts';
import type { HookMatch } from '../../src/protocol/hook.ts';
import { bash, call, CONTEXT, edit, path, read, rights, rules, spawn, write } from './support.ts';

function match(text: string, matched: ResolvedCall): HookMatch {
  const { allow, ask } = rules({ allow: [text], ask: [text] });
  return matchHookCondition({ text, rules: ask, allowing: allow }, matched, rights(), CONTEXT);
}

it.each<[string, string, ResolvedCall, HookMatch]>([
  ['the same command', 'Bash(git *)', bash('git push'), 'yes'],
  ['another command', 'Bash(git *)', bash('npm test'), 'no'],
  ['all parts of a line', 'Bash(git *)', bash('git add . && git commit'), 'yes'],
  ['one part of a line', 'Bash(git *)', bash('npm test && git push'), 'loosely'],
  ['a command after variables', 'Bash(git *)', bash('FOO=bar git push'), 'loosely'],
  ['a command inside of another', 'Bash(rm *)', bash('echo $(rm -rf /)'), 'loosely'],
  ['a line that cannot be read', 'Bash(rm *)', bash('echo "'), 'loosely'],
  ['a program of the shell', 'Bash(rm *)', bash('bash -c "rm x"'), 'loosely'],
  ['every call of the tool', 'Bash', bash('npm test'), 'yes'],
  ['another tool', 'Bash', read('a.ts'), 'no'],
  ['a file of a kind', 'Edit(*.ts)', edit('src/a.ts'), 'yes'],
  ['a file of another kind', 'Edit(*.ts)', edit('src/a.js'), 'no'],
  ['a new file', 'Edit(src/**)', write('src/a.js'), 'yes'],
  [
    'a link to such a file',
    'Edit(src/**)',
    call('Edit', 'edit', { writes: [path('l', 'src/a')] }),
    'loosely',
  ],
  [
    'a tool that needs the rights of another',
    'DeleteFile',
    call('PatchFiles', 'edit', { writes: [path('a')], alsoNeeds: ['DeleteFile'] }),
    'loosely',
  ],
  ['an agent', 'Task(review)', spawn('review'), 'yes'],
  ['another agent', 'Task(review)', spawn('plan'), 'no'],
  ['a server', 'mcp__github', call('mcp__github__search', 'execute'), 'yes'],
  ['a tool of another server', 'mcp__github', call('mcp__files__search', 'execute'), 'no'],
])(
  'a condition matches %s as a deny rule and an allow rule would',
  (_, text, matched, expected) => {
    expect(match(text, matched)).toBe(expected);
  },
);

it('matches loosely what cannot be compared', () => {
  const unreadable = { text: '?', rules: [], allowing: [] };
  expect(matchHookCondition(unreadable, bash('ls'), rights(), CONTEXT)).toBe('loosely');
  const { ask } = rules({ ask: ['Bash(git *)'] });
  const narrowed = { text: 'Shell(git *)', rules: ask, allowing: [] };
  expect(matchHookCondition(narrowed, bash('git push'), rights(), CONTEXT)).toBe('loosely');
});
