import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { openWorld, type World } from './world.ts';

const isMain = (request: RecordedRequest): boolean =>
  request.systemParts.join('\n').includes("in the user's terminal");
const systemOf = (request: RecordedRequest | undefined): string =>
  request?.systemParts.join('\n') ?? '';

function writeAtHome({ sandbox }: World, path: string, text: string): void {
  const full = join(sandbox.home, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
}

/** Delegates twice in its first message. */
const delegates =
  (...types: readonly string[]) =>
  (request: RecordedRequest) =>
    isMain(request) && toolResultRounds(request) === 0
      ? {
          toolCalls: types.map((type) => ({
            name: 'Task',
            input: { prompt: 'look', subagent_type: type, description: 'Look' },
          })),
        }
      : { text: 'done' };

describe('context files', () => {
  it('of an untrusted project and of the user stand once in each prompt, from the log when resumed', async () => {
    await using world = await openWorld({
      files: {
        'AGENTS.md': 'CANARY-PROJECT',
        'CLAUDE.md': '@AGENTS.md\n',
        '.env': 'CANARY-SECRET',
      },
      script: delegates('general-purpose', 'general-purpose', 'Explore'),
    });
    writeAtHome(world, '.claude/CLAUDE.md', 'CANARY-USER');
    const run = await world.run(['-p', 'go']);
    expect([run.code, run.stderr]).toEqual([0, '']);
    const [main, ...others] = world.model.requests;
    const children = others.filter((request) => !isMain(request));
    expect(systemOf(main).match(/CANARY-\w+/g)).toEqual(['CANARY-USER', 'CANARY-PROJECT']);
    const [one, two, explore] = ['general-purpose', 'general-purpose', 'Explore'].map(
      (type, index) =>
        children.filter((each) => systemOf(each).includes(`# Agent type: ${type}\n`)).at(index % 2),
    );
    expect(systemOf(one).match(/CANARY-\w+/g)).toEqual(['CANARY-USER', 'CANARY-PROJECT']);
    expect(systemOf(two)).toBe(systemOf(one));
    expect(systemOf(explore)).not.toContain('CANARY');
    // What the files say by then is another story's.
    world.sandbox.write('AGENTS.md', 'CHANGED');
    await world.run(['-p', 'again', '--continue']);
    expect(systemOf(world.model.requests.at(-1))).toBe(systemOf(main));
  });

  it('what is left out is told on stderr', async () => {
    await using world = await openWorld({
      files: { 'AGENTS.md': 'See @.env and @../out.md', '.env': 'CANARY-SECRET' },
    });
    writeFileSync(join(world.sandbox.root, 'out.md'), 'CANARY-OUT');
    const run = await world.run(['-p', 'go']);
    expect(run.stderr.split('\n')).toEqual([
      'muster: context file .env, which AGENTS.md imports, usually holds secrets: it is left out',
      `muster: context file ../out.md, which AGENTS.md imports, leads out of ${world.sandbox.workspace}: it is left out`,
      '',
    ]);
    expect(systemOf(world.model.requests[0])).not.toContain('CANARY');
  });

  it('more than 32 KB are cut, in the prompt and on stderr', async () => {
    const line = `${'x'.repeat(99)}\n`;
    await using world = await openWorld({ files: { 'AGENTS.md': line.repeat(400) } });
    writeAtHome(world, '.claude/CLAUDE.md', 'CANARY-USER');
    const run = await world.run(['-p', 'go']);
    expect(run.stderr).toBe(
      'muster: context files have more than 32768 bytes in total; these are cut or left out: AGENTS.md\n',
    );
    const system = systemOf(world.model.requests[0]);
    // What the user says of all projects is no smaller for it.
    expect(system).toContain('CANARY-USER');
    expect(system.match(/x{99}\n/g)).toHaveLength(327);
    expect(system).toContain('[Cut for want of room. Read has the rest.]');
  });

  it('a file for which no room is left is named', async () => {
    const line = `${'x'.repeat(99)}\n`;
    await using world = await openWorld({
      files: { 'AGENTS.md': line.repeat(400), 'GEMINI.md': 'Tabs.' },
    });
    const run = await world.run(['-p', 'go']);
    expect(run.stderr).toContain('cut or left out: AGENTS.md, GEMINI.md\n');
    expect(systemOf(world.model.requests[0])).toContain(
      'No room was left for 1 file (Read has those below the directory): GEMINI.md',
    );
  });

  it('explain lists each with its size, and what is off', async () => {
    await using world = await openWorld({
      files: { 'AGENTS.md': 'Tabs.', 'CLAUDE.md': 'Short lines.' },
    });
    const sources = async (name: string): Promise<readonly string[]> => {
      const { stdout } = await world.run(['agents', 'explain', name, '--json']);
      const { context } = JSON.parse(stdout);
      return context.sources.map((each: { name: string }) => each.name);
    };
    expect(await sources('Plan')).toEqual(
      expect.arrayContaining([
        'environment',
        'context files',
        'AGENTS.md',
        'CLAUDE.md',
        'tool Read',
      ]),
    );
    expect((await sources('Explore')).filter((name) => /context|\.md/.test(name))).toEqual([]);
  });

  it('tells of git where it can be told in time', async () => {
    await using world = await openWorld({ files: { 'new.txt': '' } });
    execFileSync('git', ['init', '-q', '-b', 'topic'], { cwd: world.sandbox.workspace });
    // A busy machine may need a few starts.
    for (let start = 0; start < 40; start += 1) {
      await world.run(['-p', 'go']);
      if (systemOf(world.model.requests.at(-1)).includes('# Git\n')) break;
    }
    expect(systemOf(world.model.requests.at(-1))).toMatch(
      /# Git\nWhen this session began; .*\n<outside (\w+)>\nBranch: No commits yet on topic\nChanges:\n\?\? new\.txt\n<\/outside \1>$/,
    );
  });
});
