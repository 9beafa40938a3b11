import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { openWorld, type World } from './world.ts';

/** A world whose home directory holds a directory `work` with a file. */
async function worldWithWork(script: (request: RecordedRequest) => Answer): Promise<World> {
  const world = await openWorld({ script });
  mkdirSync(join(world.sandbox.home, 'work'));
  writeFileSync(join(world.sandbox.home, 'work/note.txt'), 'in the home directory');
  return world;
}

const answers = (): Answer => ({ text: 'ok' });

/** Reads a file, then answers with what it was told. */
function reading(path: string) {
  return (request: RecordedRequest): Answer =>
    toolResultRounds(request) === 0
      ? { toolCalls: [{ name: 'Read', input: { file_path: path } }] }
      : { text: (request.messages.at(-1)?.toolResults ?? []).map(({ text }) => text).join() };
}

describe.concurrent('`~/` that no shell has expanded', () => {
  it('is the home directory in --cwd and --add-dir', async () => {
    await using world = await worldWithWork(reading('~/work/note.txt'));
    for (const flag of ['--cwd=~/work', '--add-dir=~/work']) {
      // oxlint-disable-next-line no-await-in-loop -- one world for both
      const run = await world.run(['-p', 'read', flag]);
      expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('in the home directory')]);
    }
    expect(world.model.requests[0]?.system).toContain(
      `Directory: ${join(world.sandbox.home, 'work')}`,
    );
  });

  it.each([
    ['a flag', ['--data-dir=~/state'], {}],
    ['the environment', [], { MUSTER_DATA_DIR: '~/state' }],
  ] as const)('is the home directory for the data directory of %s', async (_, args, env) => {
    await using world = await worldWithWork(answers);
    const run = await world.run(['-p', 'hi', ...args], { env });
    expect([run.code, run.stdout]).toEqual([0, 'ok\n']);
    expect(existsSync(join(world.sandbox.home, 'state'))).toBe(true);
    expect(existsSync(join(world.sandbox.workspace, '~'))).toBe(false);
    const list = await world.run(['tasks', 'list', '--json', ...args], { env });
    expect(JSON.parse(list.stdout)).toHaveLength(1);
  });

  it('is the home directory for files that are read and written', async () => {
    await using world = await worldWithWork(answers);
    const { home } = world.sandbox;
    writeFileSync(join(home, 'prompt.md'), 'You check the tides.');
    const made = await world.run([
      'agents',
      'new',
      'tide-checker',
      '--description=Checks the tides of a harbour. Use for questions about tides.',
      '--prompt-file=~/prompt.md',
      '--to=~/agents',
    ]);
    expect(made.code).toBe(0);
    expect(readFileSync(join(home, 'agents/tide-checker.md'), 'utf8')).toContain('the tides.');
    const listed = await world.run(['agents', 'list', '--json', '--dir=~/agents']);
    expect(listed.stdout).toContain('"tide-checker"');
  });

  it('is the home directory in flags that take JSON or a file', async () => {
    await using world = await worldWithWork(() => ({ text: '{"tide": "low"}' }));
    const { home } = world.sandbox;
    const agents = { pilot: { description: 'Knows the tides.', prompt: 'You know the tides.' } };
    writeFileSync(join(home, 'agents.json'), JSON.stringify(agents));
    const schema = { type: 'object', properties: { tide: { type: 'string' } } };
    writeFileSync(join(home, 'schema.json'), JSON.stringify(schema));
    const flags = ['--agents=@~/agents.json', '--output-schema=~/schema.json'];
    const run = await world.run(['-p', 'tide?', '--agent=pilot', ...flags]);
    expect([run.code, run.stderr, run.stdout]).toEqual([0, '', expect.stringContaining('low')]);
    expect(world.model.requests[0]?.system).toContain('You know the tides.');
  });

  it('is the home directory in permission rules of a file', async () => {
    await using world = await worldWithWork(reading('~/work/note.txt'));
    const config = join(world.sandbox.home, '.config/muster');
    mkdirSync(config, { recursive: true });
    writeFileSync(join(config, 'config.toml'), '[permissions]\ndeny = ["Read(~/work/**)"]\n');
    const run = await world.run(['-p', 'read', '--add-dir=~/work']);
    expect(run.stdout).toContain('The deny rule `Read(~/work/**)`');
  });
});
