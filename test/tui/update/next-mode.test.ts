import { expect, it } from 'vitest';
import { modesAfter } from '../../../src/front/tui/update/next-mode.ts';

it.each([
  ['plan', ['default', 'acceptEdits', 'autonomous']],
  ['default', ['acceptEdits', 'autonomous', 'plan']],
  ['autonomous', ['plan', 'default', 'acceptEdits']],
] as const)('after %s come %j', (now, modes) => {
  expect(modesAfter(now)).toEqual(modes);
});
