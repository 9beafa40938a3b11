import { expect, test } from 'vitest';
import { parse } from '../parse.ts';

const failure = (...argv: readonly string[]): Promise<unknown> =>
  parse(['mcp', ...argv]).then(
    () => 'accepted',
    (thrown: unknown) => (thrown instanceof Error ? thrown.message : thrown),
  );

test.each([
  [
    ['add', 'x', 'notaurl'],
    '"notaurl" is neither a URL nor a command after --; write "muster mcp add x -- notaurl" for a program, or "muster mcp add x https://…" for an address',
  ],
  [
    ['add', 'my server', 'mcp.example.org/mcp'],
    `"mcp.example.org/mcp" is neither a URL nor a command after --; write "muster mcp add 'my server' -- mcp.example.org/mcp" for a program, or "muster mcp add 'my server' https://mcp.example.org/mcp" for an address`,
  ],
  [
    ['add', 'x', 'node', 'my server.js'],
    `"node" is neither a URL nor a command after --; write "muster mcp add x -- node 'my server.js'" for a program, or "muster mcp add x https://…" for an address`,
  ],
  [
    ['add', 'x', 'ftp://a'],
    '"ftp://a" is no address of an MCP server: it must begin with http:// or https://',
  ],
  [
    ['add', 'x', '--', 'ws://a'],
    '"ws://a" is no address of an MCP server: it must begin with http:// or https://',
  ],
  [
    ['add', 'a\nb', '--', 'node'],
    String.raw`the name "a\nb" contains a line break or another control character`,
  ],
  [
    ['add-json', 'a\u001b', '{}'],
    String.raw`the name "a\u001b" contains a line break or another control character`,
  ],
  [
    ['add', 'x', '--env', 'A=b\nc', '--', 'node'],
    '--env NAME=VALUE: "A" or its value contains a line break or another control character',
  ],
  [
    ['add', 'x', '--header', 'A: b\r\nc', 'https://a'],
    '--header "Name: value": "A" or its value contains a line break or another control character',
  ],
  [
    ['add', 'x', '--env', 'A\n', '--', 'node'],
    String.raw`"A\n" is not of the form --env NAME=VALUE`,
  ],
])('muster mcp %j is an error that says what to write', async (argv, message) => {
  expect(await failure(...argv)).toBe(message);
});

test.each([
  [['add', 'x', '--', 'notaurl'], { command: 'notaurl', args: [] }],
  [['add', 'x', '--', 'node', 'a b'], { command: 'node', args: ['a b'] }],
  [['add', 'x', 'https://a'], { type: 'http', url: 'https://a' }],
  [['add', 'x', '--env', 'A=1=2', '--', 'node'], { command: 'node', args: [], env: { A: '1=2' } }],
])('muster mcp %j adds a server', async (argv, entry) => {
  expect((await parse(['mcp', ...argv])).options).toMatchObject({ name: 'x', entry });
});
