import { describe, expect, it } from 'vitest';
import { Sandbox } from '../e2e/muster.ts';
import { PLUGIN_LIMITS } from '../../src/plugins/plugin-files.ts';
import { expectShown, findBlocks, findTranscripts, readPage, runInShell } from './page.ts';

const page = readPage('docs/plugins.md');

describe('docs/plugins.md', () => {
  it('shows the real output of its commands', async () => {
    const [manifest = ''] = findBlocks(page, 'json');
    const [agent = ''] = findBlocks(page, 'markdown');
    using sandbox = new Sandbox({
      'review-kit/.claude-plugin/plugin.json': manifest,
      'review-kit/agents/editor.md': agent,
    });
    const transcripts = findTranscripts(page);
    expect(transcripts.length).toBeGreaterThan(4);
    let hash = '';
    for (const { command, shown } of transcripts) {
      // oxlint-disable-next-line no-await-in-loop -- each command works on the result of the one before
      const { output } = await runInShell(sandbox, command.replace('HASH', hash));
      hash = /hash ([0-9a-f]{64})/.exec(output)?.[1] ?? hash;
      const steady = output
        .replaceAll(sandbox.workspace, '/home/you/shop')
        .replaceAll(/[0-9a-f]{64}/g, 'HASH');
      if (shown.length === 0) expect(steady).toBe('');
      else expectShown(steady, shown);
    }
  });

  it('names the limits', () => {
    const { files, fileBytes, totalBytes, pathLength } = PLUGIN_LIMITS;
    const megabytes = (bytes: number): string => `${bytes / 1024 / 1024} MB`;
    const limits = readPage('docs/limits.md');
    expect(limits).toContain(`| ${files}; ${megabytes(fileBytes)}; ${megabytes(totalBytes)} |`);
    expect(limits).toContain(`| ${pathLength} characters; `);
  });
});
