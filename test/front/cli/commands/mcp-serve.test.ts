import { expect, test } from 'vitest';
import { parse } from '../parse.ts';

const parsed = (...argv: readonly string[]): Promise<unknown> =>
  parse(['mcp', 'serve', ...argv]).then(
    ({ options }) => options,
    (thrown: unknown) => (thrown instanceof Error ? thrown.message : thrown),
  );
const address = { host: '127.0.0.1', port: 0 };

test.each([
  [[], null],
  [['--http', '0'], { address, token: { kind: 'new' } }],
  [
    ['--http', '[::1]:8808', '--bearer-token-env-var', 'TOKEN'],
    { address: { host: '::1', port: 8808 }, token: { kind: 'variable', name: 'TOKEN' } },
  ],
  [
    ['--http', '0', '--bearer-token-file', '/token'],
    { address, token: { kind: 'file', path: '/token' } },
  ],
])('muster mcp serve %j', async (argv, http) => {
  expect(await parsed(...argv)).toMatchObject({ http, hasToolPerAgent: false });
});

test.each([
  [['--http', 'x'], '--http x: this is no [HOST:]PORT, such as 8808, 127.0.0.1:0 or [::1]:8808'],
  [['--bearer-token-env-var', 'TOKEN'], '--bearer-token-env-var goes with --http'],
  [['--bearer-token-file', '/token'], '--bearer-token-file goes with --http'],
  [
    ['--http', '0', '--bearer-token-file', '/token', '--bearer-token-env-var', 'TOKEN'],
    '--bearer-token-env-var and --bearer-token-file: give one of them',
  ],
])('muster mcp serve %j is refused', async (argv, message) => {
  expect(await parsed(...argv)).toBe(message);
});
