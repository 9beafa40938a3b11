import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { FakeBehavior } from './fake-server.ts';
import { Scene } from './scene.ts';

const NOTHING = { problems: '', notes: [] };

describe('new problems', () => {
  it('are those that were not there before, wherever their lines have moved', async () => {
    await using scene = new Scene();
    expect(await scene.change('a.fake', 'bad 1\nok\n', 'ok\nbad 1\nbad 2\n')).toEqual({
      problems: 'New problems in a.fake (node):\n  3:1 error: this is bad 2',
      notes: [],
    });
    expect(await scene.change('a.fake', 'ok\nbad 1\nbad 2\n', 'bad 2\n')).toEqual(NOTHING);
    expect(await scene.change('new.fake', null, 'bad 3\n')).toEqual({
      problems: 'New problems in new.fake (node):\n  1:1 error: this is bad 3',
      notes: [],
    });
    expect(scene.startCount).toBe(1);
  });

  it('are counted beyond a limit', async () => {
    await using scene = new Scene();
    const lines = Array.from({ length: 30 }, (_, index) => `bad ${index}\n`);
    const { problems } = await scene.change('a.fake', '', lines.join(''));
    expect(problems.split('\n')).toHaveLength(22);
    expect(problems).toMatch(/\[10 more\]$/);
  });

  it('in another open file are reported unless the task may not read it', async () => {
    await using scene = new Scene();
    expect(await scene.change('a.secret.fake', '', 'bad\n')).toEqual(NOTHING);
  });

  it('of files without a server are not searched for', async () => {
    await using scene = new Scene();
    expect(await scene.change('a.other', 'ok\n', 'bad\n')).toEqual(NOTHING);
    expect(scene.startCount).toBe(0);
  });

  it('of twelve tasks at the same time come from one server', async () => {
    await using scene = new Scene();
    const names = Array.from({ length: 12 }, (_, index) => `${index}.fake`);
    const found = await Promise.all(names.map((name) => scene.change(name, '', 'bad\n')));
    expect(found.map(({ problems }) => problems)).toEqual(
      names.map((name) => `New problems in ${name} (node):\n  1:1 error: this is bad`),
    );
    expect(scene.startCount).toBe(1);
  });

  it('of a file are reported although a question about it comes meanwhile', async () => {
    await using scene = new Scene({ behavior: 'slow' });
    await scene.change('a.fake', null, 'ok\n');
    const feedback = scene.change('a.fake', 'allowed:\nbad\n', 'forbidden:\nbad\n');
    while (readFileSync(scene.path('a.fake'), 'utf8') === 'ok\n') await nextTurn();
    const asked = ['definition', 'references'] as const;
    const symbol = { path: scene.path('a.fake'), symbol: 'bad', line: null };
    await Promise.all(
      asked.map((kind) => scene.languages.answer({ kind, ...symbol }, scene.call())),
    );
    expect((await feedback).problems).toContain('this is bad');
  });

  it('in other files are reported when a file is deleted, and not when it comes back', async () => {
    await using scene = new Scene();
    await scene.change('a.fake', null, 'ok\n');
    await scene.change('b.fake', null, 'needs a.fake\n');
    expect(await scene.change('a.fake', 'ok\n', null)).toEqual({
      problems: 'New problems in b.fake (node):\n  1:1 error: this is needs a.fake',
      notes: [],
    });
    expect(await scene.change('a.fake', null, 'ok\n')).toEqual(NOTHING);
  });

  it.each(['asked', 'registers'] as const)(
    'of a call that changes several files depend on all of them: %s',
    async (behavior) => {
      await using scene = new Scene({ behavior });
      await scene.changeAll([
        ['a.fake', null, 'needs b.fake\n'],
        ['b.fake', null, 'ok\n'],
      ]);
      expect(
        await scene.changeAll([
          ['a.fake', 'needs b.fake\n', 'needs b.fake\nok\n'],
          ['b.fake', 'ok\n', null],
        ]),
      ).toEqual({
        problems: 'New problems in a.fake (node):\n  1:1 error: this is needs b.fake',
        notes: [],
      });
    },
  );

  it('are not those that a change elsewhere has caused before', async () => {
    await using scene = new Scene({ behavior: 'asked' });
    await scene.change('z.fake', null, 'needs a.fake\n');
    await scene.change('a.fake', null, 'ok\n');
    const names = Array.from({ length: 10 }, (_, index) => `${index}.fake`);
    for (const name of names) await scene.change(name, null, 'ok\n');
    // Ten other documents were used since, so that this one is not checked.
    expect(await scene.change('a.fake', 'ok\n', null)).toEqual(NOTHING);
    expect(await scene.change('z.fake', 'needs a.fake\n', 'needs a.fake\nok\n')).toEqual(NOTHING);
  });

  it('are reported by a server that writes the names of files in another way', async () => {
    await using scene = new Scene({ behavior: 'encodes' });
    expect((await scene.change('(a) @b.fake', 'ok\n', 'bad\n')).problems).toContain('this is bad');
  });

  it('of many files that are checked at the same time are all reported', async () => {
    await using scene = new Scene({ behavior: 'slow' });
    const calls = Array.from({ length: 12 }, (_, call) =>
      Array.from({ length: 8 }, (_, index) => [`${call}-${index}.fake`, 'ok\n', 'bad\n'] as const),
    );
    const found = await Promise.all(calls.map((changes) => scene.changeAll(changes)));
    expect(found.map(({ notes }) => notes)).toEqual(calls.map(() => []));
    for (const { problems } of found) expect(problems.match(/this is bad/g)).toHaveLength(8);
  });

  it('in a changed file are reported although other files cannot be checked in time', async () => {
    const limits = { checkSeconds: 1 };
    await using scene = new Scene({ behavior: 'stuck', limits });
    await scene.change('a.fake', null, 'ok\n');
    expect(await scene.change('b.fake', null, 'ok\n')).toEqual(NOTHING);
    expect(await scene.change('a.fake', 'ok\n', 'bad\n')).toEqual({
      problems: 'New problems in a.fake (node):\n  1:1 error: this is bad',
      notes: ['node did not check other files: it did not answer within code.check_seconds = 1.'],
    });
  });

  it('of more files than are checked are not all known, which is said', async () => {
    await using scene = new Scene();
    const changes = Array.from(
      { length: 10 },
      (_, index) => [`${index}.fake`, null, 'ok\n'] as const,
    );
    const large = ['large.fake', null, 'ok\n'.repeat(400_000)] as const;
    expect(await scene.changeAll([...changes, large])).toEqual({
      problems: '',
      notes: [
        'Not checked by a language server: 2 changed files (only the first 8 are checked).',
        'Not checked by a language server: 1 changed file (only files of at most 1 MB are checked).',
      ],
    });
  });

  it('of several changes of one file at the same time are told apart', async () => {
    await using scene = new Scene();
    const texts = Array.from({ length: 6 }, (_, index) => `bad ${index}\n`);
    const found = await Promise.all(
      texts.map((text, index) => scene.change('a.fake', texts[index - 1] ?? '', text)),
    );
    expect(found.map(({ problems }) => problems.split('\n')[1])).toEqual(
      texts.map((text) => `  1:1 error: this is ${text.trim()}`),
    );
  });
});

describe('a server that misbehaves is named with the reason', () => {
  it.each<[FakeBehavior, RegExp]>([
    [
      'dies',
      /^node did not check the change: it exited with code 3; the end of its stderr: out of memory\.$/,
    ],
    ['floods', /^node did not check the change: it sent more than 64 MB within 10 s\.$/],
    ['chats', /^node did not check the change: it sent more than 20000 messages within 10 s\.$/],
    ['huge', /^node did not check the change: it sent a message of more than 8 MB\.$/],
    ['broken', /^node did not check the change: it sent a message without a length\.$/],
  ])('if it %s', async (behavior, note) => {
    await using scene = new Scene({ behavior });
    const { problems, notes } = await scene.change('a.fake', 'ok\n', 'bad\n');
    expect({ problems, notes }).toEqual({ problems: '', notes: [expect.stringMatching(note)] });
  });

  it('if it does not answer a change, and it is started again after two of them', async () => {
    const limits = { checkSeconds: 0.2, startSeconds: 20 };
    await using scene = new Scene({ behavior: 'silent', limits });
    expect(await scene.change('a.fake', null, 'bad\n')).toMatchObject({ notes: [] });
    const silent = [
      'node did not check the change: it did not answer within code.check_seconds = 0.2.',
    ];
    expect((await scene.change('a.fake', 'bad\n', 'worse\n')).notes).toEqual(silent);
    expect((await scene.change('a.fake', 'worse\n', 'bad\n')).notes).toEqual(silent);
    expect((await scene.change('b.fake', null, 'bad\n')).notes).toEqual([]);
    expect(scene.startCount).toBe(2);
  });

  it('if it answers nothing at all', async () => {
    await using scene = new Scene({ behavior: 'deaf', limits: { startSeconds: 0.3 } });
    expect(await scene.change('a.fake', 'ok\n', 'bad\n')).toEqual({
      problems: '',
      notes: ['node did not check the change: it did not answer within code.start_seconds = 0.3.'],
    });
  });

  it('if it never reports a problem, and it is started again after five checks', async () => {
    await using scene = new Scene({ behavior: 'mute', limits: { startSeconds: 0.2 } });
    // On a busy machine, the first calls do not even wait for the start.
    for (let index = 0; index < 60 && scene.startCount < 2; index += 1) {
      const { notes } = await scene.change('a.fake', null, 'bad\n');
      expect(notes).toEqual([expect.stringContaining('code.start_seconds = 0.2')]);
      expect(index < 5 ? scene.startCount : 1).toBeLessThan(2);
    }
    expect(scene.startCount).toBe(2);
  });

  it('but not if calls that wait for it are stopped', async () => {
    await using scene = new Scene({ behavior: 'silent' });
    await scene.change('a.fake', null, 'ok\n');
    for (let index = 0; index < 6; index += 1) {
      const controller = new AbortController();
      const feedback = scene.change('a.fake', 'ok\n', `bad ${index}\n`, controller.signal);
      setTimeout(() => controller.abort(), 20);
      expect(await feedback).toEqual(NOTHING);
    }
    expect(await scene.change('b.fake', null, 'ok\n')).toEqual(NOTHING);
    expect(scene.startCount).toBe(1);
  });

  it('and it is not started any more after it has failed three times', async () => {
    await using scene = new Scene({ behavior: 'dies' });
    const notes: string[] = [];
    for (const text of ['bad 1\n', 'bad 2\n', 'bad 3\n', 'bad 4\n', 'bad 5\n']) {
      notes.push(...(await scene.change('a.fake', 'ok\n', text)).notes);
    }
    const reason =
      'node did not check the change: it exited with code 3; the end of its stderr: out of memory.';
    expect(notes).toEqual([reason, reason, `${reason} It is not started again.`]);
    expect(scene.startCount).toBe(3);
  });
});

it('a call that is stopped does not wait for the server', async () => {
  await using scene = new Scene({ behavior: 'deaf' });
  const controller = new AbortController();
  const feedback = scene.change('a.fake', 'ok\n', 'bad\n', controller.signal);
  controller.abort();
  expect(await feedback).toEqual(NOTHING);
});

describe('a checker', () => {
  it('reports no problem that a command has caused before', async () => {
    const check = ['grep -n bad *.sh /dev/null | sed "s/:bad/: error: bad/"'];
    await using scene = new Scene({ findsChanges: true, check });
    expect(await scene.change('a.sh', null, 'ok\n')).toEqual(NOTHING);
    writeFileSync(scene.path('b.sh'), 'bad by a command\n');
    expect(await scene.change('notes.md', null, 'text\n')).toEqual(NOTHING);
    expect(await scene.change('a.sh', 'ok\n', 'bad here\n')).toEqual({
      problems: `New problems in a.sh (${check[0]}):\n  1:1 error: bad here`,
      notes: [],
    });
  });
});

describe('a server that relies on its client', () => {
  it('is told what commands and others have changed, and not started anew', async () => {
    await using scene = new Scene({ findsChanges: true });
    await scene.change('a.fake', null, 'needs b.fake\n');
    writeFileSync(scene.path('b.fake'), 'made by a command\n');
    scene.languages.noteCommand();
    expect(await scene.change('c.fake', null, 'needs b.fake\n')).toEqual(NOTHING);
    renameSync(scene.path('b.fake'), scene.path('moved.fake'));
    expect(await scene.change('c.fake', 'needs b.fake\n', 'needs moved.fake\n')).toEqual(NOTHING);
    expect(scene.startCount).toBe(1);
  });

  it('is started anew after a command if the changes are not known', async () => {
    await using scene = new Scene();
    await scene.change('a.fake', null, 'ok\n');
    writeFileSync(scene.path('b.fake'), 'made by a command\n');
    scene.languages.noteCommand();
    expect(await scene.change('c.fake', null, 'needs b.fake\n')).toEqual(NOTHING);
    expect(scene.startCount).toBe(2);
  });

  it('is started anew after more changes than it can be told, and after new dependencies', async () => {
    await using scene = new Scene({ findsChanges: true });
    await scene.change('a.fake', null, 'ok\n');
    for (let index = 0; index < 600; index += 1) writeFileSync(scene.path(`${index}.txt`), '');
    await scene.change('a.fake', 'ok\n', 'ok 1\n');
    expect(scene.startCount).toBe(2);
    mkdirSync(scene.path('node_modules'));
    await scene.change('a.fake', 'ok 1\n', 'ok 2\n');
    expect(scene.startCount).toBe(3);
    mkdirSync(scene.path('__pycache__'));
    await scene.change('a.fake', 'ok 2\n', 'ok 3\n');
    expect(scene.startCount).toBe(3);
  });

  it('reports no problem that a command has caused as one of the next change', async () => {
    await using scene = new Scene({ findsChanges: true });
    await scene.change('b.fake', null, 'ok\n');
    await scene.change('a.fake', null, 'needs b.fake\n');
    rmSync(scene.path('b.fake'));
    expect(await scene.change('c.fake', null, 'ok\n')).toEqual(NOTHING);
    expect(await scene.change('a.fake', 'needs b.fake\n', 'needs b.fake\nok\n')).toEqual(NOTHING);
  });
});

it('servers of more projects than can run take the place of those that are not used', async () => {
  await using scene = new Scene();
  for (let index = 0; index < 10; index += 1) {
    mkdirSync(scene.path(`${index}`));
    const { problems } = await scene.change(`${index}/a.fake`, 'ok\n', 'bad\n');
    expect(problems).toContain('this is bad');
  }
  expect((await scene.change('9/a.fake', 'bad\n', 'worse\n')).notes).toEqual([]);
  expect(scene.startCount).toBe(10);
});

describe('a rename', () => {
  /** Asks for a rename of `old` in `a.fake`, which the server answers with these edits by file. */
  async function rename(scene: Scene, changes: Readonly<Record<string, readonly unknown[]>>) {
    const uris = Object.entries(changes).map(([name, edits]) => [
      pathToFileURL(scene.path(name)).href,
      edits,
    ]);
    const answer = { changes: Object.fromEntries(uris) };
    writeFileSync(scene.path('rename.json'), JSON.stringify(answer));
    const symbol = { path: scene.path('a.fake'), symbol: 'old', line: null, newName: 'new' };
    return await scene.languages.planRename(symbol, scene.call());
  }

  const edit = {
    range: { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } },
    newText: 'new',
  };

  it('of a file with the mark of the byte order and other line ends keeps them', async () => {
    await using scene = new Scene();
    writeFileSync(scene.path('a.fake'), '\uFEFFold()\r\n');
    expect(await rename(scene, { 'a.fake': [edit] })).toEqual({
      ok: true,
      files: [{ path: scene.path('a.fake'), before: '\uFEFFold()\r\n', after: '\uFEFFnew()\r\n' }],
    });
  });

  it('changes a file once that the server names in two ways', async () => {
    await using scene = new Scene();
    writeFileSync(scene.path('a.fake'), 'old()\n');
    symlinkSync('a.fake', scene.path('link.fake'));
    const plan = await rename(scene, { 'a.fake': [edit], 'link.fake': [edit] });
    expect(plan).toEqual({
      ok: true,
      files: [{ path: scene.path('a.fake'), before: 'old()\n', after: 'new()\n' }],
    });
  });

  it.each<[string, (scene: Scene) => void, string]>([
    ['outside of the workspace', () => {}, '/etc/passwd, outside of the workspace'],
    [
      'outside of the workspace behind a link',
      (scene) => symlinkSync('/etc', scene.path('link')),
      '/etc/passwd, outside of the workspace',
    ],
    ['that is a pipe', (scene) => makePipe(scene.path('b.fake')), 'b.fake is no file in UTF-8'],
    [
      'in another encoding',
      (scene) => writeFileSync(scene.path('b.fake'), Buffer.from('old \xff\n', 'latin1')),
      'b.fake is no file in UTF-8',
    ],
    [
      'that the server knows with another text',
      (scene) => writeFileSync(scene.path('b.fake'), 'something else\n'),
      'node knows another text of b.fake. Nothing was changed: try it again.',
    ],
  ])('does not change a file %s', async (what, prepare, problem) => {
    await using scene = new Scene();
    writeFileSync(scene.path('a.fake'), 'old()\n');
    prepare(scene);
    const name = what.includes('link')
      ? 'link/passwd'
      : what.includes('outside')
        ? '/etc/passwd'
        : 'b.fake';
    const uri = name.startsWith('/') ? `../../${name}` : name;
    const plan = await rename(scene, { 'a.fake': [edit], [uri]: [edit] });
    expect(plan).toMatchObject({ ok: false, problem: expect.stringContaining(problem) });
  });

  it('of a pipe is refused', async () => {
    await using scene = new Scene();
    makePipe(scene.path('a.fake'));
    expect(await rename(scene, {})).toMatchObject({ ok: false, error: 'INVALID_PARAM' });
  });
});

function makePipe(path: string): void {
  execFileSync('mkfifo', [path]);
}
