import { contextLocations } from '../../src/api/context/collect-files.ts';
import { createSearchContext } from '../../src/agents/loader/search-context.ts';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeWorld } from '../front/cli/commands/agents-world.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/context-files.md'), 'utf8');

/** Sizes and hashes change with every word; git answers in time or does not. */
function steady(text: string): string {
  return text
    .replaceAll(/[0-9a-f]{64}/g, 'HASH')
    .replace(/^ +git .*\n/m, '')
    .replaceAll(/ *\d+ bytes, about \d+ tokens/g, ' N bytes, about N tokens')
    .replaceAll(/ +\d+ bytes +~\d+ tokens/g, ' N bytes ~N tokens');
}

describe('docs/context-files.md', () => {
  it('shows the real output of explain', async () => {
    const { run, place } = makeWorld(
      {
        'AGENTS.md': 'Style: @docs/style.md\n',
        'docs/style.md': 'Short.\n',
        'CLAUDE.md': '@AGENTS.md',
      },
      { '.claude/CLAUDE.md': 'Answer in Polish.\n' },
    );
    const [, shown = ''] =
      /```console\n\$ muster agents explain Review\n([\s\S]*?)```/.exec(page) ?? [];
    const { out } = await run('explain', 'Review');
    expect(steady(out.replaceAll(place.cwd, '/home/you/shop'))).toBe(steady(shown));
  });

  it('names every location', () => {
    const places = contextLocations(createSearchContext('/repo', { HOME: '/home' })).flatMap(
      ({ paths }) => paths,
    );
    const names = places.map((path) => path.replace('/repo/', '').replace('/home/', '~/'));
    const unnamed = names.filter((name) => !page.includes(`\`${name}\``));
    expect(unnamed).toEqual(['~/.codex/AGENTS.override.md']);
  });
});
