import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addConfiguredServers } from '../../src/languages/configured-servers.ts';
import { openLanguages } from '../../src/languages/open-languages.ts';
import { startServerProgram } from '../../src/sys/processes/server-process.ts';
import { writeFakeServer, type FakeBehavior } from './fake-server.ts';

const LIMITS = { checkSeconds: 60, startSeconds: 60, commandSeconds: 60, formatSeconds: 60 };

interface SceneOptions {
  readonly behavior?: FakeBehavior;
  readonly limits?: Partial<typeof LIMITS>;
}

/** A directory with files of a language that the fake server serves. */
class Scene implements AsyncDisposable {
  readonly directory = realpathSync(mkdtempSync(join(tmpdir(), 'muster-languages-')));
  private readonly starts = join(this.directory, 'starts');
  private readonly languages;

  constructor({ behavior = 'good', limits = {} }: SceneOptions = {}) {
    const server = `${writeFakeServer(this.directory)} ${behavior} ${this.starts}`;
    writeFileSync(this.starts, '');
    this.languages = openLanguages({
      search: {
        path: '',
        roots: [this.directory],
        trustsProject: false,
        languages: addConfiguredServers([`.fake=${server}`]),
      },
      limits: { ...LIMITS, ...limits },
      start: ({ argv: [file, ...args], cwd }) =>
        Promise.resolve(startServerProgram({ file, args, cwd, env: {} })),
      feedback: true,
      format: false,
      check: [],
    });
  }

  /** Changes a file as a call does, and returns the feedback. */
  async change(name: string, before: string | null, after: string, signal?: AbortSignal) {
    const path = join(this.directory, name);
    writeFileSync(path, after);
    const call = {
      cwd: this.directory,
      roots: [this.directory],
      isReadable: (file: string) => !file.endsWith('.secret.fake'),
      signal: signal ?? new AbortController().signal,
    };
    const check = await this.languages.beginChange([path], call);
    return await check.findNewProblems([{ path, before, after }]);
  }

  /** The number of times that the server was started. */
  get startCount(): number {
    return readFileSync(this.starts, 'utf8').split('\n').length - 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.languages.close();
    rmSync(this.directory, { recursive: true });
  }
}

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
