import { describe, expect, test } from 'vitest';
import { attenuate, intersectRights, createRootRights } from '../../src/policy/attenuate.ts';
import { decide, needsShellParser } from '../../src/policy/decide.ts';
import { findDeniedPaths } from '../../src/policy/denied-paths.ts';
import type { ResolvedCall } from '../../src/policy/call.ts';
import { createToolView } from '../../src/policy/tool-view.ts';
import type { LimitedTools } from '../../src/protocol/agent.ts';
import type { Rights } from '../../src/protocol/permission.ts';
import {
  agent,
  bash,
  call,
  edit,
  CONTEXT,
  fetchFrom,
  HOME,
  path,
  proved,
  read,
  rights,
  ROOT,
  write,
} from './support.ts';

/** A list of tools, in which `Tool(specifier)` is a limit. */
function list(...words: readonly string[]): LimitedTools {
  const limited = words.filter((word) => word.includes('('));
  const byTool = Map.groupBy(limited, (word) => word.slice(0, word.indexOf('(')));
  return {
    limits: [...byTool].map(([tool, rules]) => ({ tool, rules })),
    unlimited: words.filter((word) => !word.includes('(')),
  };
}

function under(
  limitedTools: LimitedTools,
  parent: Rights = { ...rights('autonomous'), network: true },
): Rights {
  return attenuate(parent, agent({ name: 'narrow', limitedTools: [limitedTools] }));
}

function verdict(made: ResolvedCall, owner: Rights): string {
  return decide(made, owner, CONTEXT).verdict;
}

const search = (tool: string, where: string): ResolvedCall =>
  call(tool, 'read', { reads: [path(where)] });

const LINKED = call('Edit', 'edit', {
  reads: [path('src/a.ts', 'docs/a.md')],
  writes: [path('src/a.ts', 'docs/a.md')],
});
const MOVE = { reads: [path('src/a.ts')], writes: [path('src/b.ts')] };
const OWN_FILE = call('Read', 'read', {
  reads: [{ ...path('/data/output.txt'), insideRoots: true, isOwn: true }],
});

const GIT = list('Read', 'Bash(git diff:*)', 'Bash(git log:*)');

describe('a limited tool runs the calls that its rules cover, and no others', () => {
  test.each<[string, LimitedTools, ResolvedCall, string]>([
    ['the first rule', GIT, bash('git diff HEAD~1'), 'allow'],
    ['the second rule', GIT, bash('git log --oneline -3'), 'allow'],
    ['both in one line', GIT, bash('git log -1 && git diff'), 'allow'],
    ['another subcommand', GIT, bash('git push'), 'deny'],
    ['another program', GIT, bash('rm -rf src'), 'deny'],
    ['one command of two', GIT, bash('git diff; rm x'), 'deny'],
    ['a pipe into another program', GIT, bash('git diff | sh'), 'deny'],
    ['a program run by the command', GIT, bash('xargs git diff'), 'deny'],
    ['options before the subcommand', GIT, bash('git --no-pager -C . diff'), 'allow'],
    ['an option that runs a program', GIT, bash('git -c core.pager=x diff'), 'deny'],
    ['programs from elsewhere', GIT, bash('git --exec-path=x diff'), 'deny'],
    ['another repository', GIT, bash('git -C /outside diff'), 'deny'],
    ['the program, told to run another', list('Bash(git:*)'), bash('git bisect run x'), 'deny'],
    ['output into a file', GIT, bash('git diff > src/a.ts'), 'deny'],
    ['a substitution', GIT, bash('git diff $(rm x)'), 'deny'],
    ['a line that cannot be read', GIT, bash('git diff "'), 'deny'],
    ['a command that is proved to only read', GIT, proved('ls', '.'), 'deny'],
    ['a tool of the list without a limit', GIT, read('src/a.ts'), 'allow'],
    ['a path', list('Edit(src/**)'), edit('src/deep/a.ts'), 'allow'],
    ['another path', list('Edit(src/**)'), edit('docs/a.md'), 'deny'],
    ['a link that leads elsewhere', list('Edit(src/**)'), LINKED, 'deny'],
    ['a tool of the same family', list('Edit(src/**)'), write('docs/a.md'), 'deny'],
    ['the family inside the limit', list('Edit(src/**)'), write('src/a.md'), 'allow'],
    ['a tool that the list does not limit', list('Edit(src/**)', 'Write'), write('a.md'), 'allow'],
    ['a file to move', list('Edit(src/**)'), call('MoveFile', 'edit', MOVE), 'deny'],
    ['a full directory to search', list('Grep(src/**)'), search('Grep', 'src'), 'allow'],
    ['a directory below', list('Read(src/**)'), search('Glob', 'src/deep'), 'allow'],
    ['a directory above', list('Read(src/**)'), search('Grep', '.'), 'deny'],
    ['a directory by a pattern for files', list('Read(*.ts)'), search('Grep', 'src'), 'deny'],
    ['a file that may be read for its own sake', list('Read(src/**)'), OWN_FILE, 'allow'],
    ['a call without a path', list('Read(src/**)'), call('Read', 'read'), 'deny'],
    ['a host', list('WebFetch(domain:docs.rs)'), fetchFrom('docs.rs'), 'allow'],
    ['another host', list('WebFetch(domain:docs.rs)'), fetchFrom('evil.example'), 'deny'],
    ['a rule that cannot be read', list('WebFetch(docs.rs)'), fetchFrom('docs.rs'), 'deny'],
  ])('%s', (_, limited, made, expected) => {
    expect(verdict(made, under(limited))).toBe(expected);
  });

  test.each([
    ['absent', true, 'allow'],
    ['present', undefined, 'deny'],
  ] as const)('new files alone: a file that is %s', (_, isNew, expected) => {
    const file = isNew === undefined ? path('a.md') : { ...path('a.md'), isNew };
    const limited = {
      limits: [{ tool: 'Write', rules: [], newFiles: true as const }],
      unlimited: ['Edit'],
    };
    expect(verdict(call('Write', 'edit', { writes: [file] }), under(limited))).toBe(expected);
  });
});

describe('the limit', () => {
  test('is named in the refusal, with what to do', () => {
    expect(decide(bash('git push'), under(GIT), CONTEXT)).toEqual({
      verdict: 'deny',
      step: 'deny_rule',
      reason:
        'Bash is limited to `Bash(git diff:*)`, `Bash(git log:*)` (agent narrow), which does not cover this Bash call.',
      instead:
        'Make only calls that are covered as a whole; for all else go on without it, and say so in your answer.',
    });
  });

  test('gives no rights: a call that would be asked about still is', () => {
    expect(verdict(bash('git diff'), under(GIT, rights()))).toBe('ask');
    const denied = rights('autonomous', { deny: ['Bash(git diff:*)'] });
    expect(verdict(bash('git diff'), under(GIT, denied))).toBe('deny');
    const plan = rights('plan');
    expect(verdict(bash('git diff'), under(GIT, plan))).toBe('deny');
    expect(verdict(proved('git diff', '.'), under(GIT, plan))).toBe('allow');
  });

  test('is not lifted by an allow rule or an answer', () => {
    expect(verdict(bash('npm test'), under(GIT, rights('autonomous', { allow: ['Bash'] })))).toBe(
      'deny',
    );
  });

  test('needs commands parsed in every mode', () => {
    expect(needsShellParser(bash('ls'), under(GIT), { isSandboxed: true })).toBe(true);
    expect(needsShellParser(bash('ls'), rights('autonomous'), { isSandboxed: true })).toBe(false);
  });

  test('binds a main agent that is started with the definition', () => {
    const grant = { ...rights('autonomous'), maxDepth: 2 };
    const root = createRootRights(grant, agent({ limitedTools: [GIT] }));
    expect([verdict(bash('npm test'), root), verdict(bash('git log'), root)]).toEqual([
      'deny',
      'allow',
    ]);
  });
});

describe('below a limited agent', () => {
  const worker = agent({ name: 'worker' });

  test.each<[string, LimitedTools, ResolvedCall, string]>([
    ['a command beyond the limit is refused', GIT, bash('npm test'), 'deny'],
    ['a command within it runs', GIT, bash('git log'), 'allow'],
    ['a tool that the list leaves out is a choice', GIT, edit('a.ts'), 'allow'],
    ['a tool that the list has without limit is free', GIT, read('a.ts'), 'allow'],
    [
      'a command may only read the files of the limit',
      list('Read(src/**)'),
      proved('cat a.md', 'a.md'),
      'deny',
    ],
    [
      'a command that reads only those files runs',
      list('Read(src/**)'),
      proved('cat src/a', 'src/a'),
      'allow',
    ],
    [
      'a command is not limited if the list grants commands',
      list('Read(src/**)', 'Bash'),
      proved('cat a', 'a'),
      'allow',
    ],
  ])('%s', (_, limited, made, expected) => {
    expect(verdict(made, attenuate(under(limited), worker))).toBe(expected);
  });

  test('the limits of all definitions apply', () => {
    const both = attenuate(
      under(GIT),
      agent({ name: 'log', limitedTools: [list('Bash(git log:*)', 'Bash(npm:*)')] }),
    );
    expect(['git log', 'git diff', 'npm test'].map((line) => verdict(bash(line), both))).toEqual([
      'allow',
      'deny',
      'deny',
    ]);
  });

  test('commands change no file if changes are limited and commands are not granted', () => {
    const places = (limited: LimitedTools) =>
      findDeniedPaths(under(limited), { home: HOME }).readOnly;
    expect(places(list('Edit(src/**)', 'Task'))).toEqual([ROOT]);
    expect(places(list('Edit(src/**)', 'Bash'))).toEqual([]);
    expect(places(list('Read(src/**)'))).toEqual([]);
  });

  test('relative paths keep the meaning that they had in the limit', () => {
    const above = under(list('Edit(src/**)'));
    const moved: Rights = { ...rights('autonomous'), roots: [`${ROOT}/src`] };
    const below = intersectRights(above, moved);
    expect(below.callLimits?.map(({ rules }) => rules.map(({ specifier }) => specifier))).toEqual([
      [`/${ROOT}/src/**`],
    ]);
  });
});

test('a tool that cannot run with any call is not offered, with the reason', () => {
  const definition = agent({
    tools: { mode: 'allow', names: ['Read', 'WebFetch'] },
    limitedTools: [list('Read', 'WebFetch(docs.rs)')],
  });
  const view = createToolView({
    definition,
    rights: attenuate(rights(), definition),
    available: [
      { name: 'Read', kind: 'read' },
      { name: 'WebFetch', kind: 'network' },
    ],
    nested: false,
    root: false,
    delegable: true,
  });
  expect(view.names).toEqual(['Read']);
  expect(view.dropped).toEqual([
    {
      name: 'WebFetch',
      reason: 'Its limit `WebFetch(docs.rs)` cannot be read: write `WebFetch(domain:example.com)`.',
    },
  ]);
});
