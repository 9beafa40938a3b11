import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MEMORY_TOOLS } from '../../../src/protocol/tool-names.ts';
import { builtinTools } from '../../../src/tools/index.ts';
import { tempDirectory } from '../../sys/temp.ts';
import { AGENT, notesIn, noteTask } from './support.ts';

function setUp() {
  const base = tempDirectory();
  const project = join(base, 'work');
  const user = join(base, 'config');
  mkdirSync(join(project, '.git'), { recursive: true });
  const shared = join(project, '.muster/memory');
  return { base, project, user, shared, task: noteTask({ project, user }) };
}

it('the tools take at most 1,200 bytes of a request', () => {
  const tools = builtinTools().filter(({ name }) => name.startsWith('Memory'));
  expect(tools.map(({ name }) => name)).toEqual(MEMORY_TOOLS);
  const wire = tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: inputSchema,
  }));
  expect(JSON.stringify(wire).length).toBeLessThanOrEqual(1_200);
});

describe('notes', () => {
  it('entries that are not notes are named, also when there are no notes', async () => {
    const { task, shared } = setUp();
    mkdirSync(join(shared, 'old.md'), { recursive: true });
    expect((await task.call('MemoryList', {})).text).toContain(
      '[These are not notes, because of their names or kinds: "old.md"]',
    );
  });

  it('are written, read, changed, extended, listed and deleted, and the index follows', async () => {
    const { task, shared } = setUp();
    const said = [
      await task.call('MemoryList', {}),
      await task.call('MemoryWrite', { file: 'build', text: '# Build\nmake all\n' }),
      await task.call('MemoryPatch', { file: 'build.md', old: 'make all', new: 'make -j' }),
      await task.call('MemoryAppend', { file: 'build.md', text: 'make check' }),
      await task.call('MemoryAppend', { file: 'flaky', text: 'net_test' }),
      await task.call('MemoryList', {}),
      await task.call('MemoryRead', { file: 'build.md' }),
      await task.call('MemoryDelete', { file: 'flaky.md' }),
    ];
    expect(said.map(({ text }) => text)).toEqual([
      `project memory, ${shared}: 0 notes, 0 of 1048576 bytes. Nothing is there yet.`,
      'Wrote build.md in project memory.',
      'Changed build.md in project memory.',
      'Added to build.md in project memory.',
      'Added to flaky.md in project memory.',
      `project memory, ${shared}: 2 notes, 109 of 1048576 bytes.\nMEMORY.md:\n# Memory\n\n- [build.md](build.md): Build\n- [flaky.md](flaky.md): net_test`,
      '# Build\nmake -j\nmake check\n',
      'Deleted flaky.md in project memory.',
    ]);
    expect(notesIn(shared)).toEqual({
      'MEMORY.md': '# Memory\n\n- [build.md](build.md): Build\n',
      'build.md': '# Build\nmake -j\nmake check\n',
    });
  });

  it('are in the directory of their scope; only the user can open those of the user, and git ignores local ones', async () => {
    const { task, project, user } = setUp();
    for (const scope of ['user', 'project', 'local']) {
      await task.call('MemoryWrite', { file: 'a', text: scope, scope });
    }
    const mode = (path: string) => statSync(path).mode & 0o077;
    const local = join(project, '.muster/memory-local');
    expect({
      user: readFileSync(join(user, 'memory/a.md'), 'utf8'),
      project: readFileSync(join(project, '.muster/memory/a.md'), 'utf8'),
      local: readFileSync(join(local, 'a.md'), 'utf8'),
      ignored: readFileSync(join(local, '.gitignore'), 'utf8'),
      open: [mode(join(user, 'memory')), mode(local)],
    }).toEqual({ user: 'user', project: 'project', local: 'local', ignored: '*\n', open: [0, 0] });
  });

  it('that a person adds, changes or removes are updated in the index at once', async () => {
    const { task, shared } = setUp();
    await task.call('MemoryWrite', { file: 'a', text: 'first' });
    writeFileSync(join(shared, 'by-hand.md'), '# By hand\n');
    writeFileSync(join(shared, 'MEMORY.md'), 'Mine.\n- [gone](gone.md)\n* [The first](a.md)\n');
    const wanted = 'Mine.\n* [The first](a.md)\n- [by-hand.md](by-hand.md): By hand\n';
    expect((await task.call('MemoryRead', { file: 'MEMORY.md' })).text).toBe(wanted);
    // The index is changed as it was shown.
    await task.call('MemoryPatch', { file: 'memory.md', old: 'By hand', new: 'by me' });
    expect(notesIn(shared)['MEMORY.md']).toBe(wanted.replace('By hand', 'by me'));
  });

  it('that this task has not read in their present version are neither replaced nor deleted, and appending does not count as reading', async () => {
    const { project, user, shared, task } = setUp();
    const other = noteTask({ project, user, changedBy: 'task abc (Plan)' });
    await task.call('MemoryWrite', { file: 'a', text: 'one\n' });
    const unread = await other.call('MemoryWrite', { file: 'a', text: 'mine' });
    await other.call('MemoryRead', { file: 'a' });
    await task.call('MemoryAppend', { file: 'a', text: 'two' });
    const stale = [
      await other.call('MemoryWrite', { file: 'a', text: 'mine' }),
      await other.call('MemoryDelete', { file: 'a' }),
    ];
    const added = await other.call('MemoryAppend', { file: 'a', text: 'three' });
    const still = await other.call('MemoryWrite', { file: 'a', text: 'mine' });
    expect([unread, ...stale, still].map(({ text, error }) => [error, text])).toEqual([
      [
        'CONFLICT',
        'a.md is there already, written by task abc (Plan), and you have not read it: read it first with MemoryRead. MemoryAppend needs no reading. Nothing was changed.',
      ],
      [
        'CONFLICT',
        'a.md was changed by task abc (Plan) since you read it: read it again with MemoryRead. MemoryAppend needs no reading. Nothing was changed.',
      ],
      [
        'CONFLICT',
        'a.md was changed by task abc (Plan) since you read it: read it again with MemoryRead. MemoryAppend needs no reading. Nothing was changed.',
      ],
      [
        'CONFLICT',
        'a.md was changed by task abc (Plan) since you read it: read it again with MemoryRead. MemoryAppend needs no reading. Nothing was changed.',
      ],
    ]);
    expect(added.facts?.changed?.map(({ unread: isUnread }) => isUnread)).toEqual([true]);
    expect(notesIn(shared)['a.md']).toBe('one\ntwo\nthree\n');
  });

  it('of an agent are separate, and its definition decides which tools reach the shared ones', async () => {
    const { project, user, shared } = setUp();
    const own = { ...AGENT, name: 'Plug:Keeper', memory: 'local' } as const;
    const listing = { ...own, tools: { mode: 'allow', names: ['MemoryWrite'] } } as const;
    const task = noteTask({ project, user, agent: own });
    const lister = noteTask({ project, user, agent: listing });
    const said = [
      await task.call('MemoryWrite', { file: 'a', text: 'mine' }),
      await task.call('MemoryRead', { file: 'a', scope: 'local' }),
      await task.call('MemoryRead', { file: 'a', scope: 'user' }),
      await lister.call('MemoryWrite', { file: 'b', text: 'ours', scope: 'project' }),
      await lister.call('MemoryRead', { file: 'b', scope: 'project' }),
    ];
    const refused = (tool: string, scope: string) =>
      `scope: you may use only your own notes, so leave scope out. (To use the ${scope} notes that agents share, the definition would have to list ${tool}.)`;
    expect(said.map(({ text }) => text)).toEqual([
      'Wrote a.md in own local memory.',
      'mine',
      refused('MemoryRead', 'user'),
      'Wrote b.md in project memory.',
      refused('MemoryRead', 'project'),
    ]);
    const top = join(project, '.muster/agent-memory-local');
    expect([
      notesIn(join(top, 'plug+keeper'))['a.md'],
      readFileSync(join(top, '.gitignore'), 'utf8'),
      notesIn(shared)['b.md'],
    ]).toEqual(['mine', '*\n', 'ours']);
  });

  it('that are long are read in parts', async () => {
    const { task, shared } = setUp();
    mkdirSync(shared, { recursive: true });
    const lines = Array.from({ length: 10_000 }, (_, at) => `line ${at + 1}`);
    writeFileSync(join(shared, 'long.md'), lines.join('\n'));
    const first = await task.call('MemoryRead', { file: 'long' });
    const offset = Number(/offset (\d+)\]$/.exec(first.text)?.[1]);
    const next = await task.call('MemoryRead', { file: 'long', offset });
    expect(first.text.split('\n').at(-2)).toBe(`line ${offset - 1}`);
    expect(next.text.split('\n')[0]).toBe(`line ${offset}`);
  });
});

describe('the tools refuse', () => {
  it.each([
    ['../x', 'a directory above'],
    ['a/b.md', 'a directory'],
    ['.hidden', 'a hidden file'],
    ['a\u0000b', 'a NUL'],
    ['-rf', 'a flag'],
    ['ключ', 'other letters'],
    ['x'.repeat(97), 'a long name'],
    ['', 'nothing'],
  ])('the name %j: %s', async (file) => {
    const { task, shared } = setUp();
    const { text, error } = await task.call('MemoryWrite', { file, text: 'x' });
    expect([error, text]).toEqual([
      'INVALID_PARAM',
      expect.stringContaining('is not the name of a note'),
    ]);
    expect(() => statSync(shared)).toThrow('ENOENT');
  });

  it('a name that differs only by case, links, and a directory behind a link', async () => {
    const { base, project, task, shared } = setUp();
    await task.call('MemoryWrite', { file: 'Build', text: 'x' });
    writeFileSync(join(base, 'secret.md'), 'SECRET');
    symlinkSync(join(base, 'secret.md'), join(shared, 'link.md'));
    symlinkSync(project, join(project, '.muster/memory-local'));
    const said = [
      await task.call('MemoryAppend', { file: 'build', text: 'y' }),
      await task.call('MemoryRead', { file: 'link' }),
      await task.call('MemoryAppend', { file: 'link', text: 'y' }),
      await task.call('MemoryWrite', { file: 'a', text: 'y', scope: 'local' }),
      await task.call('MemoryList', { scope: 'local' }),
      await task.call('MemoryList', {}),
    ];
    expect(said.map(({ error }) => error)).toEqual([
      'INVALID_PARAM',
      'INVALID_PARAM',
      'INVALID_PARAM',
      'PERMISSION_DENIED',
      'PERMISSION_DENIED',
      undefined,
    ]);
    expect(JSON.stringify(said)).not.toContain('SECRET');
    expect(said.at(-1)?.text).toContain(
      '[These are not notes, because of their names or kinds: "link.md"]',
    );
    expect(readFileSync(join(base, 'secret.md'), 'utf8')).toBe('SECRET');
  });

  it('to read or write an index through a link', async () => {
    const { base, task, shared } = setUp();
    mkdirSync(shared, { recursive: true });
    writeFileSync(join(base, 'secret.md'), 'SECRET');
    symlinkSync(join(base, 'secret.md'), join(shared, 'MEMORY.md'));
    await task.call('MemoryWrite', { file: 'a', text: 'x' });
    const listed = await task.call('MemoryList', {});
    expect(listed.text).toContain('- [a.md](a.md): x');
    expect([listed.text.includes('SECRET'), readFileSync(join(base, 'secret.md'), 'utf8')]).toEqual(
      [false, 'SECRET'],
    );
  });

  it('nothing when only the index cannot be written, so that no change is made twice', async () => {
    const { task, shared } = setUp();
    mkdirSync(shared, { recursive: true });
    writeFileSync(join(shared, 'MEMORY.md'), 'Mine.\n', { mode: 0o444 });
    const { text, error } = await task.call('MemoryAppend', { file: 'a', text: 'x' });
    expect([error, text]).toEqual([
      undefined,
      `Added to a.md in project memory. MEMORY.md is not up to date yet: ${join(shared, 'MEMORY.md')} is read-only: nobody may write it.`,
    ]);
    expect(notesIn(shared)).toEqual({ 'MEMORY.md': 'Mine.\n', 'a.md': 'x\n' });
  });

  it('a lock directory that is a link', async () => {
    const { base, task, shared } = setUp();
    mkdirSync(shared, { recursive: true });
    mkdirSync(join(base, 'elsewhere'));
    symlinkSync(join(base, 'elsewhere'), join(shared, '.locks'));
    const { error } = await task.call('MemoryAppend', { file: 'a', text: 'x' });
    expect([error !== undefined, readdirSync(join(base, 'elsewhere'))]).toEqual([true, []]);
  });

  it('a change beyond a limit, and name the limit', async () => {
    const { task, shared } = setUp();
    const big = 'x'.repeat(65_536);
    const tooBig = await task.call('MemoryAppend', { file: 'a', text: big });
    mkdirSync(shared, { recursive: true });
    for (let at = 0; at < 200; at += 1) writeFileSync(join(shared, `n${at}.md`), 'x'.repeat(5_200));
    const tooMany = await task.call('MemoryWrite', { file: 'b', text: 'x' });
    const full = await task.call('MemoryAppend', { file: 'n1', text: big.slice(10_000) });
    expect(
      [tooBig, tooMany, full].map(({ error, text }) => [error, /memory_\w+ = \d+/.exec(text)?.[0]]),
    ).toEqual([
      ['LIMIT_EXCEEDED', 'memory_note_bytes = 65536'],
      ['LIMIT_EXCEEDED', 'memory_notes = 200'],
      ['LIMIT_EXCEEDED', 'memory_bytes = 1048576'],
    ]);
  });

  it('secrets, redaction marks, and binary data', async () => {
    const { project, user, task } = setUp();
    const guarded = noteTask({ project, user, secret: 'sk-123' });
    const said = [
      await guarded.call('MemoryWrite', { file: 'a', text: 'key sk-123' }),
      await task.call('MemoryWrite', { file: 'a', text: 'key [redacted by Muster]' }),
      await task.call('MemoryWrite', { file: 'a', text: 'x\u0000y' }),
    ];
    expect(said.map(({ error }) => error)).toEqual(Array(3).fill('INVALID_PARAM'));
    expect(JSON.stringify(said)).not.toContain('sk-123');
  });

  it('a text that does not occur once, an unknown note or scope, and deleting the index', async () => {
    const { task } = setUp();
    await task.call('MemoryWrite', { file: 'build', text: 'a b a\n' });
    const said = [
      await task.call('MemoryPatch', { file: 'build', old: 'a', new: 'c' }),
      await task.call('MemoryPatch', { file: 'build', old: 'z', new: 'c' }),
      await task.call('MemoryPatch', { file: 'biuld', old: 'z', new: 'c' }),
      await task.call('MemoryRead', { file: 'a', scope: 'global' }),
      await task.call('MemoryDelete', { file: 'MEMORY.md' }),
    ];
    expect(said.map(({ text }) => text)).toEqual([
      'build.md: old occurs 2 times, at line 1: add lines around it until it is unique. Nothing was changed.',
      'build.md: old was not found, and no line resembles its first line. Nothing was changed.',
      'there is no biuld.md in project memory: did you mean build.md?',
      'scope: is unknown; valid: user, project, local',
      'MEMORY.md is the index and cannot be deleted: change it with MemoryPatch',
    ]);
  });
});
