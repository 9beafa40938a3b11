import { expect, it } from 'vitest';
import { Sandbox } from '../e2e/muster.ts';
import { ACP_CLIENT_NAMES, ACP_CLIENTS } from '../../src/front/cli/acp-clients.ts';
import { readPage, runInShell } from './page.ts';

const page = readPage('docs/acp.md');

it.each(ACP_CLIENT_NAMES)(
  'docs/acp.md shows the configuration for %s as the program prints it',
  async (name) => {
    const { title, file, language } = ACP_CLIENTS[name];
    using sandbox = new Sandbox();
    const { code, output } = await runInShell(
      sandbox,
      `muster acp --print-config ${name} 2>/dev/null`,
    );
    expect(code).toBe(0);
    expect(page).toContain(
      `**${title}** (\`--print-config ${name}\`): in ${file}\n\n\`\`\`${language}\n${output}\`\`\`\n`,
    );
    if (language === 'json') expect(() => JSON.parse(output)).not.toThrow();
  },
);

it('docs/acp.md names each client for which there is a configuration', () => {
  const [, names = ''] = /prints the lines for ([^.]*)\./.exec(page) ?? [];
  expect([...names.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual(ACP_CLIENT_NAMES);
});
