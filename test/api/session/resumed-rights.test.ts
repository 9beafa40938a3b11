import { selectRetainedRules } from '../../../src/api/session/resumed-rights.ts';
import { expect, it } from 'vitest';
import type { PermissionRule, RuleSource } from '../../../src/protocol/permission.ts';

function rule(text: string, kind: RuleSource['kind'], where = '/x'): PermissionRule {
  return { text, tool: 'Bash', specifier: text, source: { kind, where } };
}

it('a resumed conversation keeps its grants and the rules that files still contain', () => {
  const granted = [
    rule('a', 'flag', '--allow'),
    rule('b', 'definition', 'Bash'),
    rule('c', 'answer', 'task 4f2k9x'),
    rule('d', 'builtin'),
  ];
  const said = [rule('e', 'config'), rule('f', 'env'), rule('g', 'answer', '/state/answers.json')];
  expect(selectRetainedRules([...granted, ...said], [])).toEqual(granted);
  const moved = said.map((each) => ({
    ...each,
    specifier: 'written out',
    source: rule('', 'flag').source,
  }));
  expect(selectRetainedRules([...granted, ...said], moved)).toEqual([...granted, ...said]);
  expect(selectRetainedRules([], said)).toEqual([]);
});
