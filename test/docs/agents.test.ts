import { muster, AGENT_VENDORS } from '../../src/agents/formats/vendors.ts';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeWorld } from '../front/cli/commands/agents-world.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/agents.md'), 'utf8');

/** What the page shows as a file, and one that only its transcripts show. */
const FILES = {
  '.muster/agents/migrations.md': /```markdown\n([\s\S]*?)```/.exec(page)?.[1] ?? '',
  '.claude/agents/tester.md': [
    '---',
    'name: tester',
    'description: Read-only test expert',
    'tools: Read, Write, RunTests',
    'permissionMode: acceptEdits',
    'hooks: {Sop: []}',
    '---',
    'You say which tests are missing.',
    '',
  ].join('\n'),
};

/** `muster agents …` as its arguments: words, and texts in quotes. */
function words(command: string): readonly string[] {
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, text, word]) => text ?? word ?? '');
}

/** Sizes and hashes change with every word of a prompt or a tool. */
function steady(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{64}/g, 'HASH')
    .replaceAll(/ *\d+ bytes, about \d+ tokens/g, ' N bytes, about N tokens')
    .replaceAll(/ +\d+ bytes +~\d+ tokens/g, ' N bytes ~N tokens');
}

describe('docs/agents.md', () => {
  it('shows the real output of the commands', async () => {
    const { run, place } = makeWorld(FILES);
    const shown = [...page.matchAll(/```console\n\$ muster agents (.*)\n([\s\S]*?)```/g)];
    expect(shown.length).toBeGreaterThan(4);
    for (const [, command = '', expected = ''] of shown) {
      const { out } = await run(...words(command));
      expect(steady(out.replaceAll(place.cwd, '/home/you/shop'))).toBe(steady(expected));
    }
  });

  it('names the locations of the files of every product', () => {
    const places = AGENT_VENDORS.flatMap(({ agents }) => agents.locations.project);
    const owners = places.map((place) => place.split('/').slice(0, 2).join('/'));
    expect(owners.filter((place) => !page.includes(`\`${place}`))).toEqual([]);
  });

  it('has an example for each field, which loads without a warning', async () => {
    const rows = [...page.matchAll(/^\| `([a-z-]+: .*?)` \|/gm)].map(([, example = '']) => example);
    expect(rows.length).toBeGreaterThan(18);
    for (const example of rows) {
      const named = /^(name|description):/.test(example);
      const lines = [...(named ? [] : ['name: a', 'description: d']), example];
      const text = `---\n${lines.join('\n')}\n---\nx\n`;
      const { items } = await muster.agents.read({ path: '/a.md', scope: 'user', text });
      const told = items.flatMap(({ problems }) => problems.map(({ code }) => code));
      const expected = example.startsWith('name:')
        ? ['missing-description']
        : named
          ? ['name-from-filename']
          : [];
      expect([example, told]).toEqual([example, expected]);
    }
  });
});
