import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SLASH_COMMANDS } from '../../src/agents/commands/kind.ts';
import { listSearchPaths } from '../../src/agents/loader/list-files.ts';
import { createSearchContext } from '../../src/agents/loader/search-context.ts';
import { lastUserText } from '../../src/testing/index.ts';
import { openWorld } from '../e2e/world.ts';
import { findBlocks, findTranscripts, readPage, runInShell } from './page.ts';

const page = readPage('docs/commands.md');
const HOME = '/home/me';
const FILE = '.claude/commands/git/commit.md';

describe('docs/commands.md', () => {
  it('names every directory', () => {
    const context = createSearchContext('/work', { HOME });
    const paths = listSearchPaths(SLASH_COMMANDS, context).map(({ path }) =>
      path.replace('/work/', '').replace(HOME, '~'),
    );
    // The page names the two names of opencode once.
    const isNamed = (path: string): boolean =>
      page.includes(`\`${path}`) ||
      (path.includes('opencode') && page.includes(`\`${dirname(path)}\``));
    expect(paths.filter((path) => !isNamed(path))).toEqual([]);
  });

  it('shows what its example does', async () => {
    await using world = await openWorld({
      files: { 'CONTRIBUTING.md': 'Be brief.', 'parse.ts': 'export {};\n' },
      script: () => ({ text: 'Parse empty files' }),
    });
    const { sandbox, model } = world;
    const file = join(sandbox.home, FILE);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, findBlocks(page, 'markdown')[0] ?? '');
    for (const args of [
      ['init', '-q'],
      ['add', 'parse.ts'],
    ])
      execFileSync('git', args, { cwd: sandbox.workspace });
    for (const { command, shown } of findTranscripts(page)) {
      // oxlint-disable-next-line no-await-in-loop -- one command comes after the other, as on the page
      const { output } = await runInShell(sandbox, command, model.env('anthropic'));
      expect(output.replaceAll(sandbox.home, HOME).trimEnd().split('\n')).toEqual(shown);
    }
    const newest = model.requests.at(-1);
    const sent = (newest === undefined ? '' : lastUserText(newest)).replaceAll(sandbox.home, HOME);
    const block = /^```\n(\/git:commit parsing\n[\s\S]*?)^```$/m.exec(page)?.[1] ?? '';
    expect(block).not.toBe('');
    for (const line of block.split('\n')) expect(sent).toContain(line.replace(/ …$/, ''));
    expect(sent).toContain('parse.ts | 1 +');
    expect(sent).toContain('Be brief.');
  });
});
