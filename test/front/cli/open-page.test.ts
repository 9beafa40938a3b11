import { expect, test } from 'vitest';
import { findPageOpener, openPage } from '../../../src/front/cli/open-page.ts';

test.each([
  ['darwin', {}, ['open']],
  ['linux', { DISPLAY: ':0' }, ['xdg-open']],
  ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, ['xdg-open']],
  ['linux', { DISPLAY: '' }, null],
  ['linux', {}, null],
  ['darwin', { SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' }, null],
  ['linux', { DISPLAY: 'localhost:10.0', SSH_CONNECTION: 'x' }, null],
] as const)('the program that opens pages on %s with %j', (platform, environment, opener) => {
  expect(findPageOpener(platform, environment)).toEqual(opener);
});

test('a program that is missing or fails is reported', async () => {
  const open = (program: string) =>
    new Promise<string>((resolve) =>
      openPage([program], 'https://x.example/', () => resolve('told')),
    );
  expect(await Promise.all([open('/nonexistent/browser'), open('false')])).toEqual([
    'told',
    'told',
  ]);
});
