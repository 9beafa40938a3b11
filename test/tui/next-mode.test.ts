import { expect, it } from 'vitest';
import { nextMode } from '../../src/front/tui/keys/next-mode.ts';
import type { PermissionMode } from '../../src/protocol/permission.ts';

it.each<readonly [PermissionMode, PermissionMode | null, PermissionMode, boolean]>([
  ['plan', null, 'default', false],
  ['default', null, 'acceptEdits', false],
  ['acceptEdits', null, 'autonomous', false],
  ['autonomous', null, 'plan', false],
  ['autonomous', 'autonomous', 'plan', false],
  ['plan', 'default', 'default', true],
  ['default', 'default', 'plan', true],
  ['autonomous', 'default', 'plan', true],
  ['plan', 'plan', 'plan', true],
])('after %s, in a conversation that has %s, comes %s', (now, most, mode, isBounded) => {
  expect(nextMode(now, most)).toEqual({ mode, isBounded });
});
