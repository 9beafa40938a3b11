import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { open, serve } from '../front/mcp-server/http-support.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/mcp-server.md'), 'utf8');

/** Returns the cells of the first two columns of the tables of a section, without the heads. */
function readRows(section: string): readonly (readonly string[])[] {
  const text = page.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = text.split('\n').filter((line) => line.startsWith('| `'));
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, 3)
      .map((cell) => cell.trim()),
  );
}

test('docs/mcp-server.md has each tool with its arguments, and each resource', async () => {
  const { client } = await open(await serve({ script: () => ({ text: 'done' }) }), 'old');
  const { tools } = await client.listTools();
  expect(readRows('Tools')).toEqual(
    tools.map(({ name, inputSchema }) => {
      const names = Object.keys(inputSchema.properties ?? {}).map((each) => `\`${each}\``);
      return [`\`${name}\``, names.join(', ') || '–'];
    }),
  );
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(readRows('Resources').map(([address]) => address)).toEqual(
    resourceTemplates.map(({ uriTemplate }) => `\`${uriTemplate.replace('{task}', 'ID')}\``),
  );
});

test('the configurations in docs/mcp-server.md are valid JSON and start the server', () => {
  const blocks = [...page.matchAll(/^```json\n([^]*?)^```$/gm)].map(([, text = '']) => text);
  const commands = blocks.map((text) => {
    const config = JSON.parse(text) as {
      mcp?: { muster: { command: string[] } };
      mcpServers?: { muster: { command: string; args: string[] } };
    };
    const { command = '', args = [] } = config.mcpServers?.muster ?? {};
    return (config.mcp?.muster.command ?? [command].concat(args)).join(' ');
  });
  expect(commands).toEqual(['muster mcp serve', 'muster mcp serve']);
});
