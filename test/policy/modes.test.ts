import { expect, test } from 'vitest';
import { UsageError } from '../../src/base/errors.ts';
import { effectiveMode, narrowerMode, parseModeFlag } from '../../src/policy/modes.ts';

test.each([
  ['plan', 'plan'],
  ['default', 'default'],
  ['acceptEdits', 'acceptEdits'],
  ['acceptedits', 'acceptEdits'],
  ['autonomous', 'autonomous'],
  ['manual', 'default'],
  ['auto', 'default'],
  ['bypassPermissions', 'autonomous'],
])('--permission-mode %s is %s', (word, mode) => expect(parseModeFlag(word)).toBe(mode));

test.each([
  ['dontAsk', 'means two opposite things'],
  ['DONTASK', 'means two opposite things'],
  ['yolo', 'valid modes are plan, default, acceptEdits, autonomous'],
  ['', 'is not a mode'],
])('--permission-mode %j is a usage error', (word, message) => {
  expect(() => parseModeFlag(word)).toThrow(UsageError);
  expect(() => parseModeFlag(word)).toThrow(message);
});

test('the narrower mode wins, and an agent that asks for none has the mode of its parent', () => {
  expect(narrowerMode('autonomous', 'plan')).toBe('plan');
  expect(narrowerMode('default', 'acceptEdits')).toBe('default');
  expect(effectiveMode({ mode: null }, 'autonomous')).toBe('autonomous');
  expect(effectiveMode({ mode: 'default' }, 'autonomous')).toBe('default');
  expect(effectiveMode({ mode: null }, 'plan')).toBe('plan');
  expect(effectiveMode({ mode: 'autonomous' }, 'acceptEdits')).toBe('acceptEdits');
});
