import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { addConfiguredServers } from '../../src/languages/configured-servers.ts';
import { openLanguages, type LanguageOptions } from '../../src/languages/open-languages.ts';
import type { ContentChange, FileEvent, LanguageCall } from '../../src/protocol/languages.ts';
import { WorkspaceChanges } from '../../src/sys/files/changes/workspace-changes.ts';
import { startServerProgram } from '../../src/sys/processes/server-process.ts';
import { writeFakeServer, type FakeBehavior } from './fake-server.ts';

const LIMITS = { checkSeconds: 60, startSeconds: 60, commandSeconds: 60, formatSeconds: 60 };

interface SceneOptions extends Partial<Pick<LanguageOptions, 'check' | 'format'>> {
  readonly behavior?: FakeBehavior;
  readonly limits?: Partial<typeof LIMITS>;
  /** True if the changes of files are found. */
  readonly findsChanges?: boolean;
}

/** The text of a file before and after a call; null: there is no such file. */
type TextChange = readonly [name: string, before: string | null, after: string | null];

/** A directory with files of a language that the fake server serves. */
export class Scene implements AsyncDisposable {
  /** The directory of the server. The files are in `root`. */
  private readonly base = realpathSync(mkdtempSync(join(tmpdir(), 'muster-languages-')));
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'muster-files-')));
  private readonly starts = join(this.base, 'starts');
  private readonly changes: WorkspaceChanges | null;
  readonly languages;

  constructor({
    behavior = 'good',
    limits = {},
    findsChanges = false,
    ...rest
  }: SceneOptions = {}) {
    const server = `${writeFakeServer(this.base)} ${behavior} ${this.starts}`;
    writeFileSync(this.starts, '');
    const changes = findsChanges ? new WorkspaceChanges({ excluded: [], now: Date.now }) : null;
    this.changes = changes;
    this.languages = openLanguages({
      search: {
        path: '',
        roots: [this.root],
        trustsProject: false,
        languages: addConfiguredServers([`.fake=${server}`]),
      },
      limits: { ...LIMITS, ...limits },
      start: ({ argv: [file, ...args], cwd }) =>
        Promise.resolve(startServerProgram({ file, args, cwd, env: { PATH: '/usr/bin:/bin' } })),
      ...(changes === null ? {} : { changes: () => Promise.resolve(changes) }),
      feedback: true,
      format: false,
      check: [],
      ...rest,
    });
  }

  path(name: string): string {
    return join(this.root, name);
  }

  /** Returns a call that works in a directory. */
  call(signal = new AbortController().signal, root = this.root): LanguageCall {
    return {
      cwd: root,
      roots: [root],
      isReadable: (file: string) => !file.endsWith('.secret.fake'),
      signal,
    };
  }

  /** Changes a file as a call does, and returns the feedback. */
  async change(name: string, before: string | null, after: string | null, signal?: AbortSignal) {
    return await this.changeAll([[name, before, after]], signal);
  }

  /** Changes files in one call, and returns the feedback. */
  async changeAll(changes: readonly TextChange[], signal?: AbortSignal) {
    const contents = changes.map(([name, before, after]): ContentChange => {
      return { path: this.path(name), before, after };
    });
    const paths = contents.map(({ path }) => path);
    // All files of a call are in one directory.
    const call = this.call(signal, dirname(paths[0] ?? ''));
    const check = await this.languages.beginChange(paths, call);
    for (const { path, after } of contents) {
      if (after === null) rmSync(path, { force: true });
      else writeFileSync(path, after);
    }
    const events = contents.map(({ path, before, after }): FileEvent => {
      return { path, kind: after === null ? 'deleted' : before === null ? 'created' : 'changed' };
    });
    return await check.findNewProblems({ contents, events });
  }

  /** The number of times that the server was started. */
  get startCount(): number {
    return readFileSync(this.starts, 'utf8').split('\n').length - 1;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.languages.close();
    this.changes?.close();
    for (const directory of [this.base, this.root]) rmSync(directory, { recursive: true });
  }
}
