import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolResultRounds } from '../../src/testing/index.ts';
import { envelopeOf } from './muster.ts';
import { bash, openWorld } from './world.ts';

const AUTONOMOUS = ['--permission-mode', 'autonomous', '--output-format', 'json'];

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

describe.concurrent('files that a command changes', () => {
  it.for([
    { title: 'in the sandbox', bare: false },
    { title: 'without a sandbox', bare: true },
  ])('are in the receipt and in files_modified, $title', async ({ bare }) => {
    await using world = await openWorld({
      bare,
      files: { 'a.txt': 'one\n', 'b.txt': 'two\n', 'c.sh': 'three\n', 'd.txt': 'four\n' },
      script: (request) => {
        const command = 'echo new > n.txt; echo more >> a.txt; rm b.txt; chmod 755 c.sh; cat d.txt';
        return toolResultRounds(request) === 0 ? { toolCalls: [bash(command)] } : { text: 'done' };
      },
    });
    const run = await world.run(['-p', 'work', ...AUTONOMOUS]);
    const { data } = envelopeOf(run);
    const path = (name: string): string => join(world.sandbox.workspace, name);
    const [a, b, c, n] = ['a.txt', 'b.txt', 'c.sh', 'n.txt'].map(path);
    const byCommand = true;
    expect(data.files_modified).toEqual([a, b, c, n]);
    expect(data.receipt.filesChanged).toEqual([
      { path: a, before: sha256('one\n'), after: sha256('one\nmore\n'), byCommand },
      { path: b, before: sha256('two\n'), after: null, mode: 0o644, byCommand },
      {
        path: c,
        before: sha256('three\n'),
        after: sha256('three\n'),
        mode: 0o644,
        newMode: 0o755,
        byCommand,
      },
      { path: n, before: null, after: sha256('new\n'), byCommand },
    ]);
  });
});
