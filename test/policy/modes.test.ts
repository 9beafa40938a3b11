import { expect, test } from 'vitest';
import { effectiveMode, narrowerMode, parseAgentMode } from '../../src/policy/modes.ts';

test.each([
  ['default', 'default'],
  ['acceptEdits', 'acceptEdits'],
  ['acceptedits', 'acceptEdits'],
  ['autonomous', 'autonomous'],
  ['manual', 'default'],
  ['auto', 'default'],
  ['bypassPermissions', 'autonomous'],
])('the mode %s is %s', (word, mode) =>
  expect(parseAgentMode(`coder=${word}`)).toEqual({ agent: 'coder', mode }),
);

test.each(['plan', 'dontAsk', 'DONTASK', 'yolo', ''])('the mode %j cannot be granted', (word) => {
  expect(parseAgentMode(`coder=${word}`)).toBeNull();
});

test('the narrower mode wins, and an agent that asks for none has the mode of its parent', () => {
  expect(narrowerMode('autonomous', 'plan')).toBe('plan');
  expect(narrowerMode('default', 'acceptEdits')).toBe('default');
  expect(effectiveMode({ mode: null }, 'autonomous')).toBe('autonomous');
  expect(effectiveMode({ mode: 'default' }, 'autonomous')).toBe('default');
  expect(effectiveMode({ mode: null }, 'plan')).toBe('plan');
  expect(effectiveMode({ mode: 'autonomous' }, 'acceptEdits')).toBe('acceptEdits');
});
