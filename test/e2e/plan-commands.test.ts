import { describe, expect, it } from 'vitest';
import { treeHash } from '../policy/shell/read-only/small-tree.ts';
import { bash, callsInTurn, lastResults, openWorld } from './world.ts';

const FILES = { 'a.txt': 'one\ntwo\n', 'src/b.ts': 'two\n', 'keys/.env': 'SECRET=1\n' };

describe.concurrent('a command', () => {
  it.each([['--permission-mode', 'plan'] as const, ['--agent', 'Review'] as const])(
    'with %s %s runs where it is proved to change nothing, and else not at all',
    async (...flags) => {
      const commands = [
        'cat a.txt | sort -r',
        'cd src && grep -n two b.ts',
        'touch x',
        'sort -o a.txt a.txt',
        'echo "$(touch x)"',
        'cat keys/.env',
        'grep -r SECRET .',
        'find . -name x -exec touch {} +',
        'cat /etc/hostname',
      ];
      await using world = await openWorld({
        files: FILES,
        script: callsInTurn(commands.map(bash)),
      });
      const before = treeHash(world.sandbox.workspace);
      await world.run(['-p', 'look', ...flags]);
      const results = lastResults(world.model);
      expect(results.map(({ isError }) => isError)).toEqual([
        false,
        false,
        true,
        true,
        true,
        true,
        true,
        true,
        true,
      ]);
      expect(results[0]?.text).toContain('two\none\n');
      expect(results[1]?.text).toContain('1:two');
      expect(results[3]?.text).toContain('`-o` is not among the options that surely only read');
      expect(results[5]?.text).toContain('usually holds secrets');
      expect(results[6]?.text).toContain('use Grep');
      expect(results[8]?.text).toContain('outside the workspace roots');
      for (const { text } of results) expect(text).not.toContain('SECRET=1');
      expect(treeHash(world.sandbox.workspace)).toBe(before);
    },
  );

  it('that only reads runs unasked in default mode, and what a rule keeps closed stays closed', async () => {
    const commands = ['cat a.txt', 'cat src/b.ts', 'grep -r two .', 'touch x'];
    await using world = await openWorld({ files: FILES, script: callsInTurn(commands.map(bash)) });
    await world.run(['-p', 'look', '--deny', 'Read(src/**)']);
    const results = lastResults(world.model);
    expect(results.map(({ isError }) => isError)).toEqual([false, true, true, true]);
    expect(results[1]?.text).toContain('The deny rule `Read(src/**)`');
    for (const { text } of results.slice(1)) expect(text).not.toMatch(/^two/m);
  });

  it('with a directory of its own is judged, and runs, in that directory', async () => {
    const calls = [
      { command: 'cat b.ts', workdir: 'src' },
      { command: 'cat .env', cwd: 'keys' },
      { command: 'ls', directory: '/etc' },
      { command: 'touch x', workdir: 'src' },
      { command: 'grep two b.ts | wc -l', working_directory: 'src/../src' },
    ].map((input) => ({ name: 'Bash', input }));
    await using world = await openWorld({ files: FILES, script: callsInTurn(calls) });
    const before = treeHash(world.sandbox.workspace);
    await world.run(['-p', 'look', '--permission-mode', 'plan']);
    const results = lastResults(world.model);
    expect(results.map(({ isError }) => isError)).toEqual([false, true, true, true, false]);
    expect(results[0]?.text).toContain('two\n');
    expect(results[1]?.text).toContain('usually holds secrets');
    expect(results[2]?.text).toContain('outside the workspace roots');
    expect(results[3]?.text).toContain('is not among the programs that surely only read');
    expect(treeHash(world.sandbox.workspace)).toBe(before);
  });

  it('with a directory of its own is bound by the rules for that directory and for cd', async () => {
    const calls = [
      { command: 'cat b.ts', workdir: 'src' },
      { command: 'printf x > new', workdir: 'keys' },
      { command: 'printf x > new', workdir: '/tmp' },
      { command: 'touch made', workdir: 'src' },
      { command: 'touch made' },
    ].map((input) => ({ name: 'Bash', input }));
    await using world = await openWorld({ files: FILES, script: callsInTurn(calls) });
    const flags = [
      '--deny',
      'Read(src/**)',
      '--deny',
      'Write(keys/**)',
      '--allow',
      'Bash(touch:*)',
    ];
    await world.run(['-p', 'look', ...flags]);
    const results = lastResults(world.model);
    expect(results.map(({ isError }) => isError)).toEqual([true, true, true, true, false]);
    expect(results[0]?.text).toContain('The deny rule `Read(src/**)`');
    expect(results[1]?.text).toContain('The deny rule `Write(keys/**)`');
    expect(results[2]?.text).toContain('outside the workspace roots');
    // As for `cd src && touch made`: a rule for a program does not say in which directory.
    expect(results[3]?.text).toContain('Bash(cd src && touch made)');
  });
});
