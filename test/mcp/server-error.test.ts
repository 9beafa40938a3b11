import { expect, test } from 'vitest';
import { formatLoginCommand } from '../../src/mcp/server-error.ts';

test.each([
  ['issues', 'muster mcp login issues'],
  ['@org.issues-2', 'muster mcp login @org.issues-2'],
  ['agent/issues', 'muster mcp login agent/issues'],
  ['-x', "muster mcp login '-x'"],
  ['a; rm -rf ~', "muster mcp login 'a; rm -rf ~'"],
])('the command for a login to %s', (server, command) => {
  expect(formatLoginCommand(server)).toBe(command);
});
