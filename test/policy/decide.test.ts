import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type {
  Decision,
  McpConfinement,
  PermissionMode,
  Rights,
  Verdict,
} from '../../src/protocol/permission.ts';
import { PERMISSION_MODES } from '../../src/protocol/permission.ts';
import type { ResolvedCall, CallPath } from '../../src/policy/call.ts';
import {
  decide,
  decideStart,
  needsShellParser,
  pickStricter,
  refuseMissingTool,
} from '../../src/policy/decide.ts';
import { explainRefusal } from '../../src/policy/explain-refusal.ts';
import { anyCall, anyRules } from './arbitraries.ts';
import {
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
  rules,
  spawn,
  unproved,
  write,
  type RuleTexts,
} from './support.ts';

function judge(made: ResolvedCall, texts: RuleTexts = {}, mode: PermissionMode = 'default') {
  return decide(made, rights(mode, texts), CONTEXT);
}

/** A call that sets variables for later commands. */
function setVariables(...variables: readonly string[]): ResolvedCall {
  return call('SetEnv', 'execute', { variables });
}

const short = ({ verdict, step }: Decision): string => `${verdict} ${step}`;

describe('each step goes before all later ones', () => {
  const everything: RuleTexts = { deny: ['Edit'], ask: ['Edit'], allow: ['Edit'] };
  const outside = call('Edit', 'edit', { writes: [path('/etc/hosts')] });

  test.each<[string, Decision]>([
    [
      'deny tool_set',
      decide({ ...edit('a.ts'), inToolSet: false }, rights('plan', everything), CONTEXT),
    ],
    ['deny deny_rule', judge(outside, everything, 'plan')],
    ['deny floor', judge(outside, { ask: ['Edit'], allow: ['Edit'] }, 'plan')],
    ['ask floor', judge(outside, { ask: ['Edit'], allow: ['Edit'] }, 'autonomous')],
    ['ask ask_rule', judge(edit('a.ts'), { ask: ['Edit'], allow: ['Edit'] }, 'autonomous')],
    ['allow allow_rule', judge(edit('a.ts'), { allow: ['Edit'] }, 'autonomous')],
    ['allow mode', judge(edit('a.ts'), {}, 'autonomous')],
    ['ask tool_default', judge(edit('a.ts'), {}, 'default')],
  ])('%s', (expected, decision) => expect(short(decision)).toBe(expected));
});

describe('each tool in each mode', () => {
  const runs = 'allow tool_default';
  const harmless = [runs, runs, runs, 'allow mode'] as const;
  test.each<[ResolvedCall, string, string, string, string]>([
    // plan, default, acceptEdits, autonomous
    [read('a.ts'), ...harmless],
    [call('Grep', 'read', { reads: [path('.')] }), ...harmless],
    [call('TodoWrite', 'meta'), ...harmless],
    [spawn('Explore'), ...harmless],
    [edit('a.ts'), 'deny floor', 'ask tool_default', 'allow mode', 'allow mode'],
    [write('a.ts'), 'deny floor', 'ask tool_default', 'allow mode', 'allow mode'],
    [
      call('MultiEdit', 'edit', { writes: [path('a.ts')] }),
      ...(['deny floor', 'ask tool_default', 'allow mode', 'allow mode'] as const),
    ],
    [
      call('DeleteFile', 'edit', { writes: [path('a.ts')] }),
      ...(['deny floor', 'ask tool_default', 'ask tool_default', 'allow mode'] as const),
    ],
    [bash('ls'), 'deny floor', 'ask tool_default', 'ask tool_default', 'allow mode'],
    [proved('ls', '.'), ...harmless],
    [proved('echo x'), ...harmless],
    [
      unproved('ls; x', 'x'),
      ...(['deny floor', 'ask tool_default', 'ask tool_default', 'allow mode'] as const),
    ],
    // What it reads would be asked about: no question less than for Read, no more than for Bash.
    [
      proved('cat .env', '.env'),
      ...(['ask floor', 'ask tool_default', 'ask tool_default', 'allow mode'] as const),
    ],
    [
      proved('cat /etc/hosts', '/etc/hosts'),
      ...(['ask floor', 'ask tool_default', 'ask tool_default', 'allow mode'] as const),
    ],
    [
      call('mcp__x__y', 'execute', { server: 'sandbox' }),
      ...(['deny floor', 'ask tool_default', 'ask tool_default', 'ask tool_default'] as const),
    ],
    [fetchFrom('example.com'), ...same('ask tool_default')],
    [
      call('HttpRequest', 'network', { hosts: ['example.com'] }),
      ...(['deny floor', 'ask tool_default', 'ask tool_default', 'ask tool_default'] as const),
    ],
    [
      call('Sneaky', 'read', { writes: [path('a.ts')] }),
      ...(['deny floor', 'ask tool_default', 'ask tool_default', 'allow mode'] as const),
    ],
    [read('/etc/hosts'), ...same('ask floor')],
    [read('.env'), ...same('ask floor')],
    [read(`${HOME}/.ssh/id_rsa`), ...same('ask floor')],
    [edit('.git/config'), 'deny floor', 'ask floor', 'ask floor', 'ask floor'],
    [write('a/.ENV'), 'deny floor', 'ask floor', 'ask floor', 'ask floor'],
  ])('$tool', (made, ...expected) => {
    expect(PERMISSION_MODES.map((mode) => short(judge(made, {}, mode)))).toEqual(expected);
  });
});

function remove(name: string): ResolvedCall {
  return call('DeleteFile', 'edit', { writes: [path(name)] });
}

function move(from: string, to: string): ResolvedCall {
  return call('MoveFile', 'edit', { writes: [path(from), path(to)] });
}

function same(expected: string): [string, string, string, string] {
  return [expected, expected, expected, expected];
}

describe('rules', () => {
  test.each<[string, ResolvedCall, RuleTexts]>([
    // Families, in both directions.
    ['deny deny_rule', write('a.ts'), { deny: ['Edit'] }],
    ['deny deny_rule', call('DeleteFile', 'edit', { writes: [path('a.ts')] }), { deny: ['Edit'] }],
    ['allow allow_rule', write('src/a.ts'), { allow: ['Edit(src/**)'] }],
    ['ask tool_default', call('DeleteFile', 'edit', { writes: [path('a')] }), { allow: ['Edit'] }],
    ['ask tool_default', edit('a.ts'), { allow: ['Write'] }],
    ['deny deny_rule', call('Grep', 'read', { reads: [path('a')] }), { deny: ['Read(a)'] }],
    // Paths.
    ['allow allow_rule', edit('src/a/b.ts'), { allow: ['Edit(src/**)'] }],
    ['allow allow_rule', edit('src/a/b.ts'), { allow: ['Edit(./src)'] }],
    ['allow allow_rule', edit('src/a/b.ts'), { allow: ['Edit(*.ts)'] }],
    ['allow allow_rule', edit('src/a/b.ts'), { allow: [`Edit(/${ROOT}/src/**)`] }],
    ['ask tool_default', edit('other/a.ts'), { allow: ['Edit(src/**)'] }],
    ['ask tool_default', edit('lib/src/a.ts'), { allow: ['Edit(src/**)'] }],
    ['ask tool_default', edit('SRC/a.ts'), { allow: ['Edit(src/**)'] }],
    ['deny deny_rule', edit('SRC/a.ts'), { deny: ['Edit(src/**)'] }],
    ['deny deny_rule', call('LS', 'read', { reads: [path('src')] }), { deny: ['Read(src/**)'] }],
    ['deny deny_rule', read('/etc/hosts'), { deny: ['Read(/etc/hosts)'] }],
    ['deny deny_rule', read(`${HOME}/notes/a`), { deny: ['Read(~/notes/**)'] }],
    ['deny deny_rule', read('/other/deep/b.pem2'), { deny: ['Read(*.pem2)'] }],
    ['allow tool_default', read('a.ts'), { deny: ['Read(work)'] }],
    // Links: refused by either name, allowed by both.
    ['deny deny_rule', call('Read', 'read', { reads: [path('x', 'y')] }), { deny: ['Read(x)'] }],
    ['deny deny_rule', call('Read', 'read', { reads: [path('x', 'y')] }), { deny: ['Read(y)'] }],
    [
      'ask tool_default',
      call('Edit', 'edit', { writes: [path('x', 'y')] }),
      { allow: ['Edit(x)'] },
    ],
    [
      'ask tool_default',
      call('Edit', 'edit', { writes: [path('x', 'y')] }),
      { allow: ['Edit(y)'] },
    ],
    ['ask floor', call('Read', 'read', { reads: [path('x', '/etc/hosts')] }), { allow: ['Read'] }],
    ['ask floor', call('Read', 'read', { reads: [path('x', '.env')] }), { allow: ['Read'] }],
    // Several paths: every one allowed, one refused.
    [
      'ask tool_default',
      call('MoveFile', 'edit', { writes: [path('src/a'), path('b')] }),
      { allow: ['MoveFile(src/**)'] },
    ],
    [
      'deny deny_rule',
      call('MoveFile', 'edit', { writes: [path('src/a'), path('b')] }),
      { deny: ['Edit(src/**)'] },
    ],
    // What is moved or deleted is bound as what is written is, and what is moved as what is read.
    ['deny deny_rule', remove('src/a'), { deny: ['Write(src/**)'] }],
    ['deny deny_rule', remove('src/a'), { deny: ['Write'] }],
    ['ask ask_rule', remove('src/a'), { ask: ['Edit(src/**)'], allow: ['DeleteFile'] }],
    ['ask tool_default', remove('src/a'), { allow: ['Write', 'Edit(src/**)'] }],
    ['allow allow_rule', remove('src/a'), { allow: ['DeleteFile(src/**)'], deny: ['Read(src/a)'] }],
    ['deny deny_rule', move('src/a', 'b'), { deny: ['Write(b)'], allow: ['MoveFile'] }],
    ['deny deny_rule', move('secret/a', 'b'), { deny: ['Read(secret/**)'], allow: ['MoveFile'] }],
    ['ask ask_rule', move('a', 'b'), { ask: ['Read(a)'], allow: ['MoveFile'] }],
    ['allow allow_rule', move('src/a', 'src/b'), { allow: ['MoveFile(src/**)'] }],
    ['ask tool_default', move('src/a', 'src/b'), { allow: ['Read', 'Edit'] }],
    ['ask floor', move('.env', 'b'), { allow: ['MoveFile'] }],
    ['ask floor', move('a', '.git/hooks/pre-commit'), { allow: ['MoveFile'] }],
    ['ask floor', move('a', '/etc/b'), { allow: ['MoveFile'] }],
    ['ask floor', remove('.git/config'), { allow: ['DeleteFile'] }],
    // Variables of commands.
    ['ask tool_default', call('SetEnv', 'execute'), { allow: ['Bash'] }],
    ['allow allow_rule', call('SetEnv', 'execute'), { allow: ['SetEnv'] }],
    ['allow tool_default', call('GetEnv', 'read'), {}],
    ['allow allow_rule', setVariables('MODE'), { allow: ['SetEnv'] }],
    ['deny floor', setVariables('PATH'), { allow: ['SetEnv'] }],
    ['deny floor', setVariables('MODE', 'bash_env'), { allow: ['SetEnv'] }],
    ['deny deny_rule', setVariables('PATH'), { deny: ['SetEnv'] }],
    // What a call doesn't say.
    ['deny deny_rule', call('Edit', 'edit'), { deny: ['Edit(src/**)'] }],
    ['ask tool_default', call('Edit', 'edit'), { allow: ['Edit(**)'] }],
    // Hosts.
    ['allow allow_rule', fetchFrom('example.com'), { allow: ['WebFetch(domain:example.com)'] }],
    ['allow allow_rule', fetchFrom('a.Example.com.'), { allow: ['WebFetch(domain:example.com)'] }],
    ['deny deny_rule', fetchFrom('xn--mnchen-3ya.de'), { deny: ['WebFetch(domain:münchen.de)'] }],
    ['deny deny_rule', read('cafe\u0301/a'), { deny: ['Read(caf\u00e9)'] }],
    ['ask tool_default', fetchFrom('badexample.com'), { allow: ['WebFetch(domain:example.com)'] }],
    ['ask tool_default', fetchFrom('example.com'), { allow: ['WebFetch(domain:*.example.com)'] }],
    ['deny deny_rule', fetchFrom('x.example.com'), { deny: ['WebFetch(domain:example.com)'] }],
    // Addresses.
    ['ask floor', fetchFrom('localhost'), { allow: ['WebFetch'] }],
    ['ask floor', fetchFrom('app.localhost'), { allow: ['WebFetch'] }],
    ['ask floor', fetchFrom('127.0.0.1'), { allow: ['WebFetch', 'WebFetch(domain:localhost)'] }],
    ['ask floor', fetchFrom('[::1]'), { allow: ['WebFetch'] }],
    ['ask floor', fetchFrom('8.8.8.8'), { allow: ['WebFetch'] }],
    ['ask floor', fetchFrom('127.0.0.1'), { allow: ['WebFetch(domain:0.0.1)'] }],
    ['allow allow_rule', fetchFrom('[::1]'), { allow: ['WebFetch(domain:[::1])'] }],
    ['allow allow_rule', fetchFrom('localhost'), { allow: ['WebFetch(domain:localhost)'] }],
    ['allow allow_rule', fetchFrom('10.1.2.3'), { allow: ['WebFetch(domain:10.0.0.0/8)'] }],
    ['ask floor', fetchFrom('11.1.2.3'), { allow: ['WebFetch(domain:10.0.0.0/8)'] }],
    ['allow allow_rule', fetchFrom('[fd00::7]'), { allow: ['WebFetch(domain:[fd00::]/8)'] }],
    ['deny deny_rule', fetchFrom('10.1.2.3'), { deny: ['WebFetch(domain:10.0.0.0/8)'] }],
    ['ask tool_default', fetchFrom('10.example.org'), { allow: ['WebFetch(domain:10.0.0.0/8)'] }],
    // Agents.
    ['deny deny_rule', spawn('bash'), { deny: ['Task(Bash)'] }],
    ['allow tool_default', spawn('Explore'), { deny: ['Task(Bash)'] }],
    ['deny deny_rule', spawn('Rust Expert', 'rust-expert'), { deny: ['Task(rust-expert)'] }],
    ['ask ask_rule', spawn('Review', 'code-reviewer'), { ask: ['Task(code-*)'] }],
    ['deny deny_rule', spawn('rust-expert'), { deny: ['Task(Rust Expert)'] }],
    ['ask ask_rule', spawn('rust-expert'), { ask: ['Task(rust_expert)'], allow: ['Task'] }],
    ['ask ask_rule', spawn('rust-expert'), { ask: ['Task'], allow: ['Task(rust_expert)'] }],
    ['deny deny_rule', spawn('rust.expert'), { deny: ['Task(Rust Expert)'] }],
    ['deny deny_rule', spawn('rustExpert'), { deny: ['Task(rust-*)'] }],
    ['deny deny_rule', spawn('rust_expert'), { deny: ['Task(rustex*)'] }],
    ['allow tool_default', spawn('Rust'), { deny: ['Task(rust-*)'] }],
    ['allow tool_default', spawn('kitchen'), { deny: ['Task(kit:*)'] }],
    ['deny deny_rule', spawn('kit:scout'), { deny: ['Task(kit:*)'] }],
    [
      'ask ask_rule',
      spawn('Rust Expert', 'rust-expert'),
      { ask: ['Task'], allow: ['Task(rust-expert)'] },
    ],
    ['ask ask_rule', spawn('Explore'), { ask: ['Task'] }],
    ['deny deny_rule', call('Task', 'delegate'), { deny: ['Task(Bash)'] }],
    // MCP.
    ['allow allow_rule', call('mcp__gh__x', 'execute'), { allow: ['mcp__gh'] }],
    ['allow allow_rule', call('mcp__gh__x', 'execute'), { allow: ['mcp__gh__*'] }],
    ['ask tool_default', call('mcp__ghost__x', 'execute'), { allow: ['mcp__gh'] }],
    ['allow allow_rule', call('mcp__gh__get_x', 'execute'), { allow: ['mcp__gh__get_*'] }],
    ['ask tool_default', call('mcp__gh__set_x', 'execute'), { allow: ['mcp__gh__get_*'] }],
    ['ask tool_default', call('mcp__gh__a__x', 'execute'), { allow: ['mcp__*__x'] }],
    ['deny deny_rule', call('mcp__gh__a__x', 'execute'), { deny: ['mcp__*__x'] }],
    ['deny deny_rule', call('mcp__gh__set_x', 'execute'), { deny: ['mcp__*set*'] }],
    ['deny deny_rule', call('mcp__gh__x', 'execute'), { deny: ['mcp__gh__x'] }],
    ['allow tool_default', call('mcp__gh__y', 'read'), { deny: ['mcp__gh__x'] }],
    // Commands.
    ['allow allow_rule', bash('npm test'), { allow: ['Bash(npm test)'] }],
    ['deny deny_rule', bash('npm test; sudo rm x'), { allow: ['Bash'], deny: ['Bash(rm:*)'] }],
    ['deny deny_rule', proved('cat a', 'a'), { deny: ['Bash(cat:*)'] }],
    ['ask ask_rule', proved('cat a', 'a'), { ask: ['Bash'] }],
    // What a command is known to read is judged as a Read, too.
    ['deny deny_rule', proved('cat src/a', 'src/a'), { allow: ['Bash'], deny: ['Read(src/**)'] }],
    ['deny deny_rule', proved('cat a', 'a'), { deny: ['Read'] }],
    ['allow tool_default', proved('echo a'), { deny: ['Read'] }],
    ['ask ask_rule', proved('cat src/a', 'src/a'), { allow: ['Bash'], ask: ['Read(src/**)'] }],
    ['allow tool_default', proved('cat b', 'b'), { deny: ['Read(src/**)'] }],
    ['ask ask_rule', bash('git push'), { allow: ['Bash(git:*)'], ask: ['Bash(git push:*)'] }],
  ])('%s: $tool, %j', (expected, made, texts) => expect(short(judge(made, texts))).toBe(expected));

  test('names of disallowed tools count like deny rules', () => {
    const without = { ...rights('autonomous'), disallowedTools: ['Edit', 'mcp__gh'] };
    const verdicts = [edit('a'), call('MultiEdit', 'edit'), call('mcp__gh__x', 'read'), write('a')];
    expect(verdicts.map((made) => short(decide(made, without, CONTEXT)))).toEqual([
      'deny deny_rule',
      'deny deny_rule',
      'deny deny_rule',
      'allow mode',
    ]);
  });

  test('without the shell parser no allow rule for a command applies, and every deny rule does', () => {
    const facts = { ...CONTEXT, shellParser: null };
    const verdict = (texts: RuleTexts) => decide(bash('npm test'), rights('default', texts), facts);
    expect(short(verdict({ allow: ['Bash(npm test)'] }))).toBe('ask tool_default');
    expect(short(verdict({ deny: ['Bash(rm:*)'] }))).toBe('deny deny_rule');
    expect(short(verdict({ allow: ['Bash'] }))).toBe('allow allow_rule');
  });

  test('a command is parsed if it has to be proved, or if a rule is about it or about the files that it reads', () => {
    const needs = (made: ResolvedCall, mode: PermissionMode, texts: RuleTexts, sandboxed = true) =>
      needsShellParser(made, rights(mode, texts), { isSandboxed: sandboxed });
    expect([
      needs(read('a'), 'default', { deny: ['Bash(rm:*)'] }),
      needs(bash('ls'), 'plan', {}),
      needs(bash('ls'), 'default', { allow: ['Bash'] }),
      needs(bash('ls'), 'autonomous', { deny: ['Bash', 'Edit(src/**)'] }),
      needs(bash('ls'), 'autonomous', { deny: ['Bash(rm:*)'] }),
      needs(bash('ls'), 'autonomous', { deny: ['Read(src/**)'] }),
      needs(bash('ls'), 'autonomous', {}, false),
    ]).toEqual([false, true, true, true, true, true, true]);
  });
});

describe('a command that redirects into a file', () => {
  const redirecting = (...files: readonly CallPath[]): ResolvedCall => ({
    ...unproved('echo x > …', 'it writes'),
    redirectedWrites: files,
  });

  test.each<[string, ResolvedCall, RuleTexts]>([
    ['deny deny_rule', redirecting(path('a.txt')), { deny: ['Edit(a.txt)'] }],
    ['deny deny_rule', redirecting(path('b'), path('a.txt')), { deny: ['Write(*.txt)'] }],
    ['deny deny_rule', redirecting(path('link', 'src/x')), { deny: ['Edit(src/**)'] }],
    ['deny deny_rule', redirecting(path('/etc/x')), { deny: ['Edit(//etc/**)'] }],
    ['deny deny_rule', redirecting(path('a.txt')), { deny: ['Edit'] }],
    ['ask ask_rule', redirecting(path('a.txt')), { ask: ['Edit(a.txt)'] }],
    ['allow allow_rule', redirecting(path('/tmp/x')), { deny: ['Edit'] }],
    ['allow allow_rule', redirecting(path('a.txt')), { deny: ['Edit(b.txt)', 'Read(a.txt)'] }],
    ['allow allow_rule', redirecting(), { deny: ['Edit(a.txt)'] }],
  ])('%s', (expected, made, texts) => {
    const { verdict, step } = judge(made, { allow: ['Bash'], ...texts });
    expect(`${verdict} ${step}`).toBe(expected);
  });

  test('gets the rule as a reason', () => {
    const { reason } = judge(redirecting(path('a.txt')), { deny: ['Edit(a.txt)'] });
    expect(reason).toBe('The deny rule `Edit(a.txt)` (--deny) forbids this Bash call.');
  });
});

describe('a command', () => {
  const confinement = (made: ResolvedCall, mode: PermissionMode, texts: RuleTexts = {}) =>
    judge(made, texts, mode).confinement;

  test('runs if it can change nothing and was proved or in plan mode, and otherwise in the workspace', () => {
    expect([
      confinement(proved('ls'), 'plan'),
      confinement(proved('ls'), 'default'),
      confinement(proved('cat .env', '.env'), 'plan'),
      confinement(bash('npm test'), 'plan'),
      confinement(bash('npm test'), 'default'),
      confinement(proved('ls'), 'default', { allow: ['Bash'] }),
      confinement(bash('npm test'), 'autonomous'),
      confinement(read('a.ts'), 'default'),
    ]).toEqual([
      'read-only',
      'read-only',
      'read-only',
      undefined,
      'workspace',
      'workspace',
      'workspace',
      undefined,
    ]);
  });

  test('without a sandbox is allowed by its proof and by rules, but by no mode', () => {
    const facts = { ...CONTEXT, isSandboxed: false };
    const verdict = (made: ResolvedCall, texts: RuleTexts = {}) =>
      short(decide(made, rights('autonomous', texts), facts));
    expect([
      verdict(bash('npm test')),
      verdict(call('mcp__gh__x', 'execute')),
      verdict(proved('ls', '.')),
      verdict(bash('npm test'), { allow: ['Bash(npm test)'] }),
      verdict(edit('a.ts')),
    ]).toEqual([
      'ask tool_default',
      'ask tool_default',
      'allow tool_default',
      'allow allow_rule',
      'allow mode',
    ]);
    expect(decide(bash('npm test'), rights('autonomous'), facts).reason).toBe(
      'Bash runs commands or code, and without a sandbox only a rule lets it run unasked.',
    );
  });

  test('of an MCP server needs the network, and a server in the sandbox or over HTTP', () => {
    const confined = call('mcp__x__y', 'execute', { server: 'sandbox' });
    const unconfined = call('mcp__x__y', 'execute');
    const withNetwork = { ...rights('autonomous'), network: true };
    const machine = { ...CONTEXT, isSandboxed: false, isMachineSandbox: true };
    expect([
      short(decide(confined, rights('autonomous'), CONTEXT)),
      short(decide(confined, withNetwork, CONTEXT)),
      short(decide(confined, withNetwork, { ...CONTEXT, isSandboxed: false })),
      short(decide(unconfined, withNetwork, CONTEXT)),
      short(decide(unconfined, withNetwork, machine)),
    ]).toEqual(['ask tool_default', 'allow mode', 'allow mode', 'ask tool_default', 'allow mode']);
  });

  test('on a machine that is itself the sandbox is allowed, except for an agent that may change nothing', () => {
    const facts = { ...CONTEXT, isSandboxed: false, isMachineSandbox: true, isInContainer: true };
    const decided = (texts: RuleTexts, more: Partial<Rights> = {}, mode?: PermissionMode) =>
      decide(bash('npm test'), { ...rights(mode ?? 'autonomous', texts), ...more }, facts);
    const limit = { tools: ['Edit'], rules: [], newFiles: [], unlimited: [], where: 'agent a' };
    const refused = [
      decided({ deny: ['Edit'] }),
      decided({ deny: ['Write'] }),
      decided({}, { callLimits: [limit] }),
      decided({}, {}, 'default'),
      decided({}, {}, 'acceptEdits'),
    ];
    expect(short(decided({}))).toBe('allow mode');
    expect(short(decided({ deny: ['Edit(docs/**)', 'Read(.env)'] }))).toBe('allow mode');
    expect(short(decided({}, { callLimits: [{ ...limit, unlimited: ['Bash'] }] }))).toBe(
      'allow mode',
    );
    expect(refused.map(short)).toEqual(Array(5).fill('ask tool_default'));
    expect(short(decided({}, {}, 'plan'))).toBe('deny floor');
    for (const decision of refused) expect(decision.lacksSandbox).toBeUndefined();
    expect(refused[0]?.reason).toBe(
      'Bash runs commands or code, and without a sandbox only a rule lets it run unasked.',
    );
    for (const texts of [{}, { deny: ['Edit'] }]) {
      const isNeeded = needsShellParser(bash('ls'), rights('autonomous', texts), facts);
      expect(isNeeded).toBe('deny' in texts);
    }
  });

  test('names the lack of a sandbox if only this keeps it from running, and the flag for a container', () => {
    const lacking = (mode: PermissionMode, facts: Partial<typeof CONTEXT>, texts: RuleTexts = {}) =>
      decide(bash('npm test'), rights(mode, texts), { ...CONTEXT, ...facts });
    const here = lacking('autonomous', { isSandboxed: false });
    const inContainer = lacking('autonomous', { isSandboxed: false, isInContainer: true });
    expect([here.lacksSandbox, inContainer.lacksSandbox]).toEqual(['here', 'in_container']);
    for (const other of [
      lacking('autonomous', { isSandboxed: true, isInContainer: true }),
      lacking('acceptEdits', { isSandboxed: false, isInContainer: true }),
      lacking('autonomous', { isSandboxed: false }, { deny: ['Bash'] }),
      lacking('autonomous', { isSandboxed: false }, { ask: ['Bash'] }),
      lacking('plan', { isSandboxed: false, isInContainer: true }),
    ]) {
      expect(other.lacksSandbox).toBeUndefined();
      expect(explainRefusal(other)).not.toContain('--sandbox');
    }
    expect(explainRefusal(here)).not.toContain('--sandbox');
    expect(explainRefusal(inContainer)).toContain(
      "A user can allow it with --allow 'Bash(npm test)'. Or, if this container is itself the sandbox, with --sandbox container. Do not try",
    );
  });

  test('that takes too long to analyse is refused in every mode, after the deny rules', () => {
    const slow: ResolvedCall = {
      ...bash('ls'),
      proof: { proven: false, reason: 'it took too long', isOverLimit: true },
    };
    expect(PERMISSION_MODES.map((mode) => short(judge(slow, { allow: ['Bash'] }, mode)))).toEqual(
      same('deny floor'),
    );
    expect(short(judge(slow, { deny: ['Bash(rm:*)', 'Bash(ls)'] }))).toBe('deny deny_rule');
  });

  test('that reads files does not run unasked for an agent without Read', () => {
    const without = (mode: PermissionMode) => ({ ...rights(mode), disallowedTools: ['Read'] });
    const verdict = (made: ResolvedCall, mode: PermissionMode) =>
      short(decide(made, without(mode), CONTEXT));
    expect([
      verdict(proved('cat a', 'a'), 'plan'),
      verdict(proved('cat a', 'a'), 'default'),
      verdict(proved('echo a'), 'plan'),
    ]).toEqual(['deny floor', 'ask tool_default', 'allow tool_default']);
  });

  test('proves nothing about a call that does more than run it', () => {
    const more = { ...proved('ls'), tool: 'mcp__x__y' };
    const writes = { ...proved('ls'), access: { ...proved('ls').access, writes: [path('a')] } };
    expect([more, writes].map((made) => short(judge(made, {}, 'plan')))).toEqual([
      'deny floor',
      'deny floor',
    ]);
  });
});

describe('reasons', () => {
  test('name the rule and where it is written', () => {
    const texts = { deny: ['Bash(rm:*)'] };
    expect(judge(bash('rm x'), texts)).toEqual({
      verdict: 'deny',
      step: 'deny_rule',
      rule: rules(texts).deny[0],
      reason: 'The deny rule `Bash(rm:*)` (--deny) forbids this Bash call.',
    });
  });

  test.each<[ResolvedCall, PermissionMode, string | undefined]>([
    [bash('npm test'), 'default', 'Bash(npm test)'],
    [bash('npm test > out; ls'), 'default', 'Bash(npm test > out; ls)'],
    [bash('echo ")"'), 'default', 'Bash(echo "\\)")'],
    [bash('echo *.ts'), 'default', 'Bash(echo *.ts)'],
    [bash('echo "'), 'default', 'Bash'],
    [bash('cat <<E\nx\nE'), 'default', 'Bash'],
    [edit('src/a/b.ts'), 'default', 'Edit(src/a/**)'],
    [write('src/b.ts'), 'default', 'Edit(src/**)'],
    [write('README.md'), 'default', 'Edit(./README.md)'],
    [write('we[i]rd (1)/#x'), 'default', 'Edit(we\\[i\\]rd (1)/**)'],
    [call('DeleteFile', 'edit', { writes: [path('src/b.ts')] }), 'default', 'DeleteFile(src/**)'],
    [fetchFrom('example.com'), 'plan', 'WebFetch(domain:example.com)'],
    [call('WebSearch', 'network', { onlyFetches: true }), 'default', 'WebSearch'],
    [call('mcp__gh__x', 'execute'), 'default', 'mcp__gh__x'],
    [edit('a.ts'), 'plan', '--permission-mode acceptEdits'],
    [bash('ls'), 'plan', '--permission-mode default'],
    [read('/etc/hosts'), 'default', '--add-dir "/etc"'],
    [call('LS', 'read', { reads: [path('/etc')] }), 'default', '--add-dir "/etc"'],
    [
      call('Bash', 'execute', { commands: ['cd /etc && ls'], reads: [path('/etc')] }),
      'default',
      '--add-dir "/etc"',
    ],
    [read('.env'), 'default', undefined],
  ])('%j in %s mode: %s', (made, mode, wouldAllow) => {
    expect(judge(made, {}, mode).wouldAllow).toBe(wouldAllow);
  });

  test('the refusal of a child in plan mode names no flag, since none would help', () => {
    const child = { ...rights('plan'), depth: 1 };
    expect(decide(edit('a.ts'), child, CONTEXT).wouldAllow).toBeUndefined();
  });

  test('a refusal says why, and names what would allow the call', () => {
    expect(explainRefusal(judge(bash("echo 'x'")))).toBe(
      "Refused, nothing was done. Bash runs commands or code, and neither a rule nor default mode lets it run unasked. Nobody is here to be asked. A user can allow it with --allow 'Bash(echo '\\''x'\\'')'. Do not try the same another way; go on without it, and say so in your answer.",
    );
    expect(explainRefusal(judge(unproved('rm x', '`rm` writes'), {}, 'plan'))).toBe(
      'Refused, nothing was done. Plan mode runs only commands that are proved to change nothing, and this one is not: `rm` writes. A user can allow it with --permission-mode default. To look at files use Read, Glob and Grep, or a plain command that only reads. Skip everything else, and say in your answer what you skipped.',
    );
    expect(explainRefusal(judge(edit('a.ts'), {}, 'plan'))).toBe(
      'Refused, nothing was done. Plan mode changes nothing, and Edit could. A user can allow it with --permission-mode acceptEdits. Do not try the same another way; go on without it, and say so in your answer.',
    );
  });

  test('the rule that a refusal names allows the call', () => {
    fc.assert(
      fc.property(anyCall, (made) => {
        const { verdict, step, wouldAllow } = judge(made);
        if (verdict !== 'ask' || step !== 'tool_default') return;
        expect(judge(made, { allow: [wouldAllow ?? ''] }).verdict).toBe('allow');
      }),
    );
  });
});

test('a variable that controls programs cannot be set in any mode, and the refusal names another way', () => {
  for (const mode of PERMISSION_MODES) {
    expect(judge(setVariables('NODE_OPTIONS'), { allow: ['SetEnv'] }, mode).verdict).toBe('deny');
  }
  const decision = judge(setVariables('PATH'), { allow: ['SetEnv'] }, 'autonomous');
  expect(explainRefusal(decision)).toBe(
    'Refused, nothing was done. PATH says where programs, code or settings come from, or belongs to Muster, so it cannot be set for later commands. Set it in the one command that needs it (PATH=… command); the permission rules then decide on that command.',
  );
});

test('a call that was allowed starts, unless the mode has become narrower meanwhile', () => {
  const refused = PERMISSION_MODES.map((mode) =>
    PERMISSION_MODES.filter((allowedIn) => decideStart('Edit', { allowedIn, mode }) !== null),
  );
  expect(refused).toEqual([
    ['default', 'acceptEdits', 'autonomous'],
    ['acceptEdits', 'autonomous'],
    ['autonomous'],
    [],
  ]);
  expect(decideStart('Edit', { allowedIn: 'acceptEdits', mode: 'default' })).toBe(
    'Not run: the user set default mode before Edit had begun. Call it again if it is still needed.',
  );
});

test('a tool that the task does not have is refused, and the refusal names those that it has', () => {
  const tools = ['Read', 'Grep'];
  const reason = 'Bash is not among your tools: Read, Grep.';
  expect(refuseMissingTool('Bash', { tools, isForked: false })).toEqual({
    verdict: 'deny',
    step: 'tool_set',
    reason,
  });
  expect(refuseMissingTool('Bash', { tools, isForked: true }).reason).toBe(
    `${reason} The conversation that you inherited had others.`,
  );
});

test('a refusal of a missing tool names only the nearest of many tools', () => {
  const tools = Array.from({ length: 400 }, (_, index) => `mcp__demo__tool_${index}`);
  expect(refuseMissingTool('mcp__demo__tool_1x', { tools, isForked: false }).reason).toBe(
    'mcp__demo__tool_1x is not among your tools: mcp__demo__tool_1, mcp__demo__tool_10, mcp__demo__tool_11, mcp__demo__tool_12, mcp__demo__tool_13 and 395 others.',
  );
});

describe('whatever the rules, the mode and the call', () => {
  const rank = { deny: 0, ask: 1, allow: 2 };

  test('the order within a list makes no difference', () => {
    const shuffled = anyRules.chain((texts) =>
      fc.record({
        texts: fc.constant(texts),
        allow: shuffle(texts.allow),
        ask: shuffle(texts.ask),
        deny: shuffle(texts.deny),
      }),
    );
    fc.assert(
      fc.property(anyCall, shuffled, fc.constantFrom(...PERMISSION_MODES), (made, sets, mode) => {
        const { texts, ...other } = sets;
        expect(short(judge(made, other, mode))).toBe(short(judge(made, texts, mode)));
      }),
    );
  });

  test('one more deny or ask rule, one allow rule less or no tool never gives more rights', () => {
    fc.assert(
      fc.property(
        anyCall,
        anyRules,
        anyRules,
        fc.constantFrom(...PERMISSION_MODES),
        (made, texts, more, mode) => {
          const before = rank[judge(made, texts, mode).verdict];
          const narrower = [
            judge(made, { ...texts, deny: [...texts.deny, ...more.deny] }, mode),
            judge(made, { ...texts, ask: [...texts.ask, ...more.ask] }, mode),
            judge(made, { ...texts, allow: texts.allow.slice(1) }, mode),
            judge({ ...made, inToolSet: false }, texts, mode),
            decide(made, { ...rights(mode, texts), disallowedTools: ['Read', 'Edit'] }, CONTEXT),
            decide(made, rights(mode, texts), { ...CONTEXT, isSandboxed: false }),
            decide(made, rights(mode, texts), { ...CONTEXT, shellParser: null }),
          ];
          for (const decision of narrower)
            expect(rank[decision.verdict]).toBeLessThanOrEqual(before);
        },
      ),
    );
  });
});

function shuffle(texts: readonly string[]): fc.Arbitrary<readonly string[]> {
  return fc.shuffledSubarray([...texts], { minLength: texts.length });
}

describe('a patch', () => {
  const patch = (...alsoNeeds: readonly string[]) =>
    call('PatchFiles', 'edit', {
      reads: [path('src/a.ts')],
      writes: [path('src/a.ts')],
      alsoNeeds,
    });
  const changes: readonly string[] = [];
  const deletes = ['DeleteFile'];
  const moves = ['MoveFile'];

  test.each<[alsoNeeds: readonly string[], RuleTexts, PermissionMode, expected: string]>([
    [changes, {}, 'acceptEdits', 'allow mode'],
    [deletes, {}, 'acceptEdits', 'ask tool_default'],
    [deletes, {}, 'autonomous', 'allow mode'],
    [deletes, {}, 'plan', 'deny floor'],
    [deletes, { allow: ['DeleteFile'] }, 'acceptEdits', 'allow allow_rule'],
    // A rule about deleting allows no changes of text, and the other way round.
    [deletes, { allow: ['DeleteFile'] }, 'default', 'ask tool_default'],
    [deletes, { allow: ['Edit'] }, 'default', 'ask tool_default'],
    [deletes, { allow: ['Edit', 'DeleteFile'] }, 'default', 'allow allow_rule'],
    // A deletion in the patch turns off no rule about its changes.
    ...['Write', 'Edit', 'MultiEdit', 'PatchFiles', 'DeleteFile', 'Read'].flatMap(
      (tool): [readonly string[], RuleTexts, PermissionMode, string][] => [
        [deletes, { deny: [`${tool}(src/**)`] }, 'autonomous', 'deny deny_rule'],
        [deletes, { ask: [`${tool}(src/**)`], allow: ['Edit'] }, 'autonomous', 'ask ask_rule'],
      ],
    ),
    // Errors of a patch quote lines of the file.
    [changes, { deny: ['Read(src/**)'] }, 'autonomous', 'deny deny_rule'],
    [moves, {}, 'acceptEdits', 'ask tool_default'],
    [moves, {}, 'plan', 'deny floor'],
    [moves, { deny: ['MoveFile'] }, 'autonomous', 'deny deny_rule'],
    [changes, { deny: ['MoveFile'] }, 'autonomous', 'allow mode'],
    [moves, { deny: ['DeleteFile'] }, 'autonomous', 'allow mode'],
    [[...deletes, ...moves], { deny: ['MoveFile'] }, 'autonomous', 'deny deny_rule'],
    [[...deletes, ...moves], { deny: ['DeleteFile'] }, 'autonomous', 'deny deny_rule'],
  ])('also needing %j, rules %j, mode %s: %s', (alsoNeeds, texts, mode, expected) => {
    expect(short(judge(patch(...alsoNeeds), texts, mode))).toBe(expected);
  });

  test('a question about changing and deleting offers the rules for both', () => {
    expect(judge(patch(...deletes))).toMatchObject({
      wouldAllowParts: ['Edit(src/**)', 'DeleteFile(src/**)'],
    });
    expect(judge(patch(...deletes, ...moves))).toMatchObject({
      wouldAllowParts: ['Edit(src/**)', 'DeleteFile(src/**)', 'MoveFile(src/**)'],
    });
  });
});

describe('a tool of an MCP server', () => {
  const workspace = {
    source: ROOT,
    tree: '/data/tree',
    commonDirectory: '/work/.git',
    branch: 'muster/a/b',
  };
  const connected = { ...rights('autonomous'), network: true };
  const inWorkspace = { ...connected, workspace };
  const machine = { ...CONTEXT, isSandboxed: false, isMachineSandbox: true };
  const bare = { ...CONTEXT, isSandboxed: false };

  // The columns: outside of a workspace, in one, in one without a sandbox, in one on a machine that is the sandbox.
  test.each<[McpConfinement | null, ...(readonly string[])]>([
    ['sandbox', 'allow mode', 'allow mode', 'ask tool_default', 'ask tool_default'],
    ['workspace', 'ask tool_default', 'allow mode', 'ask tool_default', 'ask tool_default'],
    ['remote', 'allow mode', 'ask tool_default', 'ask tool_default', 'ask tool_default'],
    [null, 'ask tool_default', 'ask tool_default', 'ask tool_default', 'ask tool_default'],
  ])('is confined in a workspace only by the sandbox there: %s', (server, ...expected) => {
    const asked = call('mcp__x__y', 'execute', server === null ? {} : { server });
    const decisions = [
      decide(asked, connected, CONTEXT),
      decide(asked, inWorkspace, CONTEXT),
      decide(asked, inWorkspace, bare),
      decide(asked, inWorkspace, machine),
    ];
    expect(decisions.map(short)).toEqual(expected);
    const allowed = { ...inWorkspace, rules: rules({ allow: ['mcp__x'] }) };
    expect(short(decide(asked, allowed, bare))).toBe('allow allow_rule');
    const offline = { ...inWorkspace, network: false };
    expect(short(decide(asked, offline, CONTEXT))).toBe('ask tool_default');
  });
});

describe('a hook', () => {
  const user = { kind: 'user', where: '~/.claude/settings.json' } as const;
  const withHook = (verdict: Verdict) => ({
    ...CONTEXT,
    hook: { verdict, reason: 'the hook says so', source: user },
  });

  test.each<[string, ResolvedCall, RuleTexts, PermissionMode, Verdict, string]>([
    [
      'refuses what a rule allows',
      edit('a.ts'),
      { allow: ['Edit'] },
      'default',
      'deny',
      'deny hook',
    ],
    ['asks about what a mode allows', edit('a.ts'), {}, 'autonomous', 'ask', 'ask hook'],
    [
      'asks about what a rule allows',
      edit('a.ts'),
      { allow: ['Edit'] },
      'default',
      'ask',
      'ask hook',
    ],
    ['answers a question by default', edit('a.ts'), {}, 'default', 'allow', 'allow hook'],
    ['answers no ask rule', edit('a.ts'), { ask: ['Edit'] }, 'default', 'allow', 'ask ask_rule'],
    ['lifts no deny rule', edit('a.ts'), { deny: ['Edit'] }, 'default', 'allow', 'deny deny_rule'],
    ['lifts nothing in plan mode', edit('a.ts'), {}, 'plan', 'allow', 'deny floor'],
    [
      'lifts no hard rule',
      call('Edit', 'edit', { writes: [path('/etc/hosts')] }),
      {},
      'autonomous',
      'allow',
      'ask floor',
    ],
  ])('%s', (_, made, texts, mode, verdict, expected) => {
    expect(short(decide(made, rights(mode, texts), withHook(verdict)))).toBe(expected);
  });

  test('never widens a decision, except a question that only the default of the tool asks', () => {
    fc.assert(
      fc.property(
        anyCall,
        anyRules,
        fc.constantFrom(...PERMISSION_MODES),
        fc.constantFrom<Verdict>('allow', 'ask', 'deny'),
        (made, anyTexts, mode, verdict) => {
          const own = rights(mode, anyTexts);
          const without = decide(made, own, CONTEXT);
          const decision = decide(made, own, withHook(verdict));
          const isAnswered =
            verdict === 'allow' && short(without) === 'ask tool_default' && mode !== 'plan';
          if (isAnswered) expect(short(decision)).toBe('allow hook');
          else expect(pickStricter(decision, without).verdict).toBe(decision.verdict);
          if (verdict === 'deny') expect(decision.verdict).toBe('deny');
        },
      ),
    );
  });
});
