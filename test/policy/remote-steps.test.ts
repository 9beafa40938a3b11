import { expect, it } from 'vitest';
import type { ResolvedAccess } from '../../src/policy/call.ts';
import { decide } from '../../src/policy/decide.ts';
import type { PermissionMode } from '../../src/protocol/permission.ts';
import { call, CONTEXT, path, rights, ROOT, type RuleTexts } from './support.ts';

function decideStep(
  mode: PermissionMode,
  access: Partial<ResolvedAccess> = {},
  texts: RuleTexts = {},
): string {
  const step = call('RemoteStep', 'execute');
  const claimed = { ...step, access: { ...step.access, ...access, isClaimed: true as const } };
  return decide(claimed, rights(mode, texts), { ...CONTEXT, isSandboxed: true }).verdict;
}

const INSIDE = path(`${ROOT}/a.ts`);

it.each<readonly [PermissionMode, string]>([
  ['plan', 'deny'],
  ['default', 'ask'],
  ['acceptEdits', 'ask'],
  ['autonomous', 'allow'],
])(
  'in %s mode a step of a remote agent is decided as %s, whatever it claims to be',
  (mode, verdict) => {
    expect(decideStep(mode)).toBe(verdict);
    expect(decideStep(mode, { commands: ['ls'] })).toBe(verdict);
    expect(decideStep(mode, { reads: [INSIDE] })).toBe(verdict);
    expect(decideStep(mode, { writes: [INSIDE] })).toBe(verdict);
  },
);

it.each<readonly [string, Partial<ResolvedAccess>, RuleTexts, string]>([
  ['a deny rule for commands', { commands: ['git push'] }, { deny: ['Bash(git push:*)'] }, 'deny'],
  ['a deny rule for reads', { reads: [INSIDE] }, { deny: ['Read(a.ts)'] }, 'deny'],
  ['an ask rule for edits', { writes: [INSIDE] }, { ask: ['Edit(a.ts)'] }, 'ask'],
  ['a deny rule for hosts', { hosts: ['x.test'] }, { deny: ['WebFetch(domain:x.test)'] }, 'deny'],
  ['an allow rule for another tool', { commands: ['ls'] }, { allow: ['Bash(ls)'] }, 'allow'],
  [
    'a path outside of the roots',
    { writes: [{ ...path('/etc/x'), insideRoots: false }] },
    { allow: ['RemoteStep'] },
    'ask',
  ],
])('in autonomous mode, %s makes a step stricter if it applies', (_, access, texts, verdict) => {
  expect(decideStep('autonomous', access, texts)).toBe(verdict);
});

it('is allowed in default mode only by a rule for steps, not by one for what it claims to do', () => {
  expect(decideStep('default', { commands: ['ls'] }, { allow: ['Bash(ls)'] })).toBe('ask');
  expect(decideStep('default', { commands: ['ls'] }, { allow: ['RemoteStep'] })).toBe('allow');
});
