import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolResultRounds } from '../../src/testing/index.ts';
import { grep, handle, read } from './file-run.ts';
import { Sandbox } from './muster.ts';
import { lastResults, openWorld } from './world.ts';

describe.concurrent('a file that is', () => {
  it('binary is reported as binary', async () => {
    const { results } = await handle(
      (workspace) =>
        writeFileSync(join(workspace, 'a.bin'), Buffer.from([0x7f, 0x45, 0, 0, 1, 2, 255])),
      [read('a.bin'), grep({ pattern: 'E' }), { name: 'LS', input: {} }],
    );
    const [whole, found, listed] = results;
    expect(whole?.isError).toBe(true);
    expect(whole?.text).toMatch(/binary/);
    expect(found?.isError).toBe(false);
    expect(listed?.text).toContain('a.bin');
    for (const { text } of results) expect(text).not.toContain('\0');
  });

  it('a notebook or in another encoding is read and edited as it is', async () => {
    const cell = { cell_type: 'code', execution_count: null, id: 'a', metadata: {}, outputs: [] };
    const notebook = (source: readonly string[]) =>
      `${JSON.stringify({ cells: [{ ...cell, source }], metadata: {}, nbformat: 4, nbformat_minor: 5 }, null, 1)}\n`;
    const rounds = [
      [read('u.txt'), read('l.txt'), { name: 'NotebookRead', input: { notebook_path: 'n.ipynb' } }],
      [
        { name: 'Edit', input: { file_path: 'u.txt', old_string: 'zwei', new_string: 'drei →' } },
        { name: 'Edit', input: { file_path: 'l.txt', old_string: 'caf', new_string: 'ä' } },
        {
          name: 'NotebookEdit',
          input: { notebook_path: 'n.ipynb', cell_id: 'a', new_source: 'y', edit_mode: 'replace' },
        },
      ],
    ];
    await using world = await openWorld({
      script: (request) => {
        const calls = rounds[toolResultRounds(request)];
        return calls === undefined ? { text: 'done' } : { toolCalls: calls };
      },
    });
    const { workspace } = world.sandbox;
    const utf16 = (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le');
    writeFileSync(join(workspace, 'u.txt'), utf16('eins\r\nzwei\r\n'));
    writeFileSync(join(workspace, 'l.txt'), Buffer.from('caf\xe9\n', 'latin1'));
    writeFileSync(join(workspace, 'n.ipynb'), notebook(['x']));
    await world.run(['-p', 'go', '--permission-mode', 'acceptEdits']);
    expect(lastResults(world.model).map(({ isError }) => isError)).toEqual([false, false, false]);
    expect(readFileSync(join(workspace, 'u.txt'))).toEqual(utf16('eins\r\ndrei →\r\n'));
    expect(readFileSync(join(workspace, 'l.txt'))).toEqual(Buffer.from('\xe4\xe9\n', 'latin1'));
    expect(readFileSync(join(workspace, 'n.ipynb'), 'utf8')).toBe(notebook(['y']));
  });

  it('not UTF-8 is read or refused with the reason, never a broken request', async () => {
    const { results } = await handle(
      (workspace) =>
        writeFileSync(join(workspace, 'latin.txt'), Buffer.from('caf\xe9 noir\n', 'latin1')),
      [read('latin.txt'), grep({ pattern: 'noir', output_mode: 'content' })],
    );
    expect(results[0]?.text).toMatch(/caf.* noir|UTF-8/);
    expect(results[1]?.text).toMatch(/latin\.txt/);
  });

  it('a FIFO blocks no tool', async () => {
    const { results } = await handle(
      (workspace) => {
        execFileSync('mkfifo', [join(workspace, 'pipe')]);
        writeFileSync(join(workspace, 'a.txt'), 'needle\n');
      },
      [
        read('pipe'),
        grep({ pattern: 'needle' }),
        grep({ pattern: 'needle', path: 'pipe' }),
        { name: 'Glob', input: { pattern: '*' } },
        { name: 'LS', input: {} },
        { name: 'Write', input: { file_path: 'pipe', content: 'x' } },
        { name: 'Edit', input: { file_path: 'pipe', old_string: 'a', new_string: 'b' } },
      ],
      ['--permission-mode', 'acceptEdits'],
    );
    const [whole, found, alone, , listed, written, edited] = results;
    expect(whole).toMatchObject({ isError: true, text: expect.stringMatching(/pipe|FIFO/) });
    expect(found?.text).toContain('a.txt');
    expect(alone?.text).not.toContain('a.txt');
    expect(listed?.text).toContain('pipe');
    expect(written?.isError).toBe(true);
    expect(edited?.isError).toBe(true);
  });

  it('a link to itself, or a directory that contains itself, leads to no endless walk', async () => {
    const { results } = await handle(
      (workspace) => {
        symlinkSync('b', join(workspace, 'a'));
        symlinkSync('a', join(workspace, 'b'));
        mkdirSync(join(workspace, 'dir'));
        symlinkSync('.', join(workspace, 'dir/self'));
        writeFileSync(join(workspace, 'dir/f.txt'), 'needle\n');
      },
      [
        read('a'),
        grep({ pattern: 'needle' }),
        { name: 'Glob', input: { pattern: '**/*.txt' } },
        { name: 'LS', input: {} },
        { name: 'Write', input: { file_path: 'a/new.txt', content: 'x' } },
      ],
      ['--permission-mode', 'acceptEdits'],
    );
    const [looped, found, globbed, listed, written] = results;
    expect(looped).toMatchObject({ isError: true, text: expect.stringMatching(/loop|link/i) });
    expect(found?.text.split('\n').filter((line) => line.includes('f.txt')).length).toBe(1);
    expect(globbed?.text.split('\n').filter((line) => line.includes('f.txt')).length).toBe(1);
    expect(listed?.text).toContain('dir');
    expect(written?.isError).toBe(true);
  });

  it.each([
    [
      'a link to a file outside',
      (workspace: string, outside: string) => {
        symlinkSync(join(outside, 'secret.txt'), join(workspace, 'link'));
        return 'link';
      },
    ],
    [
      'below a link to a directory outside',
      (workspace: string, outside: string) => {
        symlinkSync(outside, join(workspace, 'dir'));
        return 'dir/secret.txt';
      },
    ],
    ['outside', (_: string, outside: string) => join(outside, 'secret.txt')],
    [
      'reached by ..',
      (workspace: string, outside: string) => relative(workspace, join(outside, 'secret.txt')),
    ],
  ])('%s is neither read nor written nor found', async (_, place) => {
    using other = new Sandbox({ 'secret.txt': 'OUT-OF-BOUNDS' });
    const { workspace: outside } = other;
    let path = '';
    await using world = await openWorld({
      script: (request) =>
        toolResultRounds(request) === 0
          ? {
              toolCalls: [
                read(path),
                grep({ pattern: 'OUT-OF', output_mode: 'content' }),
                grep({ pattern: 'OUT-OF', path, output_mode: 'content' }),
                { name: 'Write', input: { file_path: path, content: 'overwritten' } },
              ],
            }
          : { text: 'done' },
    });
    path = place(world.sandbox.workspace, outside);
    const run = await world.run(['-p', 'go', '--permission-mode', 'autonomous']);
    expect([run.code, run.stdout]).toEqual([0, 'done\n']);
    const results = lastResults(world.model);
    expect(results.length).toBe(4);
    for (const { text } of results) expect(text).not.toContain('OUT-OF-BOUNDS');
    expect([results[0]?.isError, results[3]?.isError]).toEqual([true, true]);
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('OUT-OF-BOUNDS');
  });

  it('a device or of the kernel is refused, by name and by link', async () => {
    const paths = ['/proc/self/environ', '/dev/zero', '/dev/stdin', '/proc/1/root/etc/passwd'];
    const { results } = await handle(
      (workspace) => symlinkSync('/proc/self/environ', join(workspace, 'link')),
      [...paths, 'link'].map(read),
      ['--permission-mode', 'autonomous'],
    );
    expect(results.map(({ isError }) => isError)).toEqual([true, true, true, true, true]);
    for (const { text } of results) expect(text).not.toMatch(/ANTHROPIC|root:/);
  });
});

describe.concurrent('a file that changes while it is read', () => {
  it.each([
    ['is deleted', (path: string) => rmSync(path)],
    [
      'becomes a directory',
      (path: string) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
    [
      'becomes a FIFO',
      (path: string) => {
        rmSync(path);
        execFileSync('mkfifo', [path]);
      },
    ],
    [
      'becomes a link to nowhere',
      (path: string) => {
        rmSync(path);
        symlinkSync('gone', path);
      },
    ],
  ])('%s between Glob and Read', async (_, change) => {
    await using world = await openWorld({
      files: { 'a.txt': 'content', 'b.txt': 'other' },
      script: (request) => {
        const rounds = toolResultRounds(request);
        if (rounds === 0) return { toolCalls: [{ name: 'Glob', input: { pattern: '*.txt' } }] };
        if (rounds > 1) return { text: 'done' };
        change(join(world.sandbox.workspace, 'a.txt'));
        return { toolCalls: [read('a.txt'), read('b.txt')] };
      },
    });
    const run = await world.run(['-p', 'go']);
    expect([run.code, run.stdout, run.stderr]).toEqual([0, 'done\n', '']);
    expect(world.model.requests[1]?.messages.at(-1)?.toolResults[0]?.text).toContain('a.txt');
    const [gone, other] = lastResults(world.model);
    expect(gone).toMatchObject({ isError: true, text: expect.stringContaining('a.txt') });
    expect(other).toMatchObject({ isError: false, text: expect.stringContaining('other') });
  });

  it('changes between Read and Edit: it is not overwritten', async () => {
    await using world = await openWorld({
      files: { 'a.txt': 'one\n' },
      script: (request) => {
        const rounds = toolResultRounds(request);
        if (rounds === 0) return { toolCalls: [read('a.txt')] };
        if (rounds > 1) return { text: 'done' };
        world.sandbox.write('a.txt', 'one, by somebody else\n');
        const input = { file_path: 'a.txt', old_string: 'one', new_string: 'two' };
        return { toolCalls: [{ name: 'Edit', input }] };
      },
    });
    const run = await world.run(['-p', 'go', '--permission-mode', 'acceptEdits']);
    expect(run.code).toBe(0);
    expect(lastResults(world.model)[0]?.isError).toBe(true);
    const after = readFileSync(join(world.sandbox.workspace, 'a.txt'), 'utf8');
    expect(after).toBe('one, by somebody else\n');
  });
});

describe.concurrent('files with odd names', () => {
  it('are listed and read by their exact name', async () => {
    const names = ['-rf', 'a b', 'new\nline', 'ünï', '*', "it's", '[x]'];
    const { results } = await handle(
      (workspace) => {
        for (const name of names) writeFileSync(join(workspace, name), `content of ${name}\n`);
      },
      [...names.map(read), { name: 'LS', input: {} }, grep({ pattern: 'content of' })],
    );
    for (const [index] of names.entries()) {
      expect(results[index]).toMatchObject({
        isError: false,
        text: expect.stringContaining('content of'),
      });
    }
    expect(results.at(-2)?.text).toContain('-rf');
    expect(results.at(-1)?.text).toContain('-rf');
  });

  it('cannot become a command or a flag of Grep', async () => {
    const { results, made } = await handle(
      (workspace) => writeFileSync(join(workspace, 'a.txt'), 'needle\n'),
      [
        grep({ pattern: '--pre=touch pwned' }),
        grep({ pattern: 'needle', path: '--files' }),
        grep({ pattern: 'needle', glob: '--pre=touch' }),
        { name: 'Glob', input: { pattern: '--pre=touch pwned' } },
      ],
    );
    expect(results.length).toBe(4);
    expect(made).toEqual(['a.txt']);
  });
});
