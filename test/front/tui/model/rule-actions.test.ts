import { describe, expect, it } from 'vitest';
import type { RuleInForce } from '../../../../src/api/index.ts';
import {
  describeChanges,
  findRemoval,
  readPermissionsCommand,
  ruleActions,
} from '../../../../src/front/tui/model/rule-actions.ts';

const rule = (change: Partial<RuleInForce>): RuleInForce => ({
  list: 'allow',
  text: 'Bash(make)',
  origin: 'conversation',
  where: 'set with /permissions',
  ...change,
});

describe('/permissions', () => {
  it.each([
    ['', { kind: 'list' }],
    [
      'deny Bash(rm:*)',
      { kind: 'add', change: { list: 'deny', rule: 'Bash(rm:*)', scope: 'task' } },
    ],
    ['allow project Edit(src/**)', { kind: 'add', change: { list: 'allow', scope: 'project' } }],
    ['allow user Bash', { kind: 'add', change: { list: 'allow', rule: 'Bash', scope: 'user' } }],
    ['ask  Bash(git push)', { kind: 'add', change: { list: 'ask', rule: 'Bash(git push)' } }],
    ['remove Bash(make)', { kind: 'remove', list: null, rule: 'Bash(make)' }],
    ['remove deny Bash(make)', { kind: 'remove', list: 'deny', rule: 'Bash(make)' }],
    ['mode acceptEdits', { kind: 'mode', mode: 'acceptEdits' }],
    ['mode', { kind: 'problem' }],
    ['mode widest', { kind: 'problem' }],
    ['allow', { kind: 'problem' }],
    ['remove', { kind: 'problem' }],
    ['forbid Bash', { kind: 'problem' }],
  ])('%j is read', (typed, expected) => {
    expect(readPermissionsCommand(typed)).toMatchObject(expected);
  });
});

describe('what can be done with a rule', () => {
  it.each<[Partial<RuleInForce>, readonly string[]]>([
    [{ origin: 'conversation' }, ['remove', 'move-project', 'move-user']],
    [{ origin: 'conversation', list: 'deny' }, ['remove']],
    [{ origin: 'conversation', list: 'ask' }, ['remove']],
    [{ origin: 'project' }, ['remove', 'move-task', 'move-user', 'ask', 'deny']],
    [{ origin: 'user' }, ['remove', 'move-task', 'move-project', 'ask', 'deny']],
    [{ origin: 'file', where: '/home/you/config.toml:7' }, ['ask', 'deny', 'open']],
    [{ origin: 'file', list: 'deny', where: '/home/you/config.toml:7' }, ['open']],
    [{ origin: 'flag', where: '--allow' }, ['ask', 'deny']],
    [{ origin: 'flag', list: 'ask', where: '--ask' }, ['deny']],
    [{ origin: 'definition', list: 'deny', where: 'agent reviewer' }, []],
  ])('%j', (change, ids) => {
    expect(ruleActions(rule(change)).map(({ id }) => id)).toEqual(ids);
  });

  it('adds the new rule before it removes the old one', () => {
    const move = ruleActions(rule({})).find(({ id }) => id === 'move-project');
    expect(move?.effect).toEqual({
      kind: 'change',
      changes: [
        { kind: 'add', list: 'allow', rule: 'Bash(make)', scope: 'project' },
        { kind: 'remove', list: 'allow', rule: 'Bash(make)', scope: 'task' },
      ],
    });
  });

  it('never widens anything but allow rules that the user has set', () => {
    for (const origin of ['file', 'flag', 'variable', 'definition', 'built-in'] as const) {
      for (const list of ['allow', 'ask', 'deny'] as const) {
        for (const { effect } of ruleActions(rule({ origin, list }))) {
          if (effect.kind === 'open') continue;
          for (const change of effect.changes) {
            expect(change).toMatchObject({ kind: 'add', scope: 'task' });
            expect(change.list).not.toBe('allow');
          }
        }
      }
    }
  });
});

describe('a typed removal', () => {
  const rules = [
    rule({ text: 'Bash', list: 'deny' }),
    rule({ text: 'Bash' }),
    rule({ text: 'Edit', origin: 'project' }),
    rule({ text: 'Read', origin: 'file', where: '/c.toml:1', list: 'deny' }),
  ];
  it.each([
    ['Edit', null, { kind: 'remove', list: 'allow', rule: 'Edit', scope: 'project' }],
    ['Bash', 'deny', { kind: 'remove', list: 'deny', rule: 'Bash', scope: 'task' }],
    ['Bash', null, 'there are several rules Bash: type /permissions remove deny Bash'],
    ['Read', null, expect.stringContaining('the deny rule Read is of /c.toml:1')],
    ['Glob', null, 'no rule Glob is in force here; /permissions lists them'],
  ] as const)('of %s (%s)', (text, list, expected) => {
    expect(findRemoval(rules, { rule: text, list })).toEqual(expected);
  });
});

it.each([
  [
    [{ kind: 'add', list: 'deny', rule: 'Bash', scope: 'task' }],
    'Bash is now denied in this conversation',
  ],
  [
    [{ kind: 'remove', list: 'allow', rule: 'Bash', scope: 'user' }],
    'Bash is no longer allowed in every project',
  ],
] as const)('%j is described', (changes, text) => expect(describeChanges(changes)).toBe(text));
