import { describe, expect, it } from 'vitest';
import { envelopeOf } from './muster.ts';
import { openWorld, type World } from './world.ts';

const FILES = {
  'a.txt': 'what stands in a',
  'b.txt': 'what stands in b',
  '.env': 'KEY=what nobody may see',
};

function openFiles(): Promise<World> {
  return openWorld({ files: FILES, script: () => ({ text: 'They differ.' }) });
}

function lastSaid({ model }: World): string {
  return JSON.stringify(model.requests.at(-1)?.messages.at(-1));
}

describe.concurrent('a file that a prompt names with @', () => {
  it('goes along, and needs no call', async () => {
    await using world = await openFiles();
    const run = await world.run(['-p', 'Compare @a.txt, ask @someone']);
    expect(run).toEqual({ code: 0, signal: null, stdout: 'They differ.\n', stderr: '' });
    expect(world.model.requests.length).toBe(1);
    expect(lastSaid(world)).toContain('what stands in a');
  });

  it('goes along with the next message of a conversation, too', async () => {
    await using world = await openFiles();
    const first = await world.run(['-p', 'Begin', '--output-format', 'json']);
    const id = envelopeOf(first).data.task_id;
    const next = await world.run(['--resume', id.slice(0, 8), '-p', 'Now see @b.txt']);
    expect([next.code, next.stderr]).toEqual([0, '']);
    expect(lastSaid(world)).toContain('what stands in b');
    expect(lastSaid(world)).not.toContain('what stands in a');
  });

  it('stays behind where it stands in what stdin holds', async () => {
    await using world = await openFiles();
    await world.run(['-p', 'Explain'], { stdin: 'see @a.txt' });
    expect(lastSaid(world)).toContain('see @a.txt');
    expect(lastSaid(world)).not.toContain('what stands in a');
  });

  it('stays behind where a person would have to allow it, and that is told', async () => {
    await using world = await openFiles();
    const run = await world.run(['-p', 'See @.env', '--output-format', 'json']);
    expect(run.stderr).toMatch(/^muster: @\.env is not quoted: .*usually holds secrets/);
    expect(envelopeOf(run).status).toBe('success');
    expect(JSON.stringify(world.model.requests)).not.toContain('what nobody may see');
  });

  it('is the one that the offline engine is asked about', async () => {
    await using world = await openWorld({ files: { 'a.ts': 'export function parse() {}\n' } });
    const run = await world.run(['-p', 'What does @a.ts do?', '--model', 'offline']);
    expect(run.stdout).toContain('- `a.ts:1` export function parse() {}');
    expect(run.stdout).not.toContain('@a.ts');
  });
});
