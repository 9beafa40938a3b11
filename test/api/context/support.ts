import { createSearchContext } from '../../../src/agents/loader/search-context.ts';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { LiveContext, type ContextOptions } from '../../../src/api/context/live-context.ts';
import type { ProjectContext } from '../../../src/protocol/project-context.ts';

const createdDirectories: string[] = [];

afterAll(() => {
  for (const directory of createdDirectories) rmSync(directory, { recursive: true, force: true });
});

type Files = Readonly<Record<string, string>>;

export interface Tree {
  /** The directory that contains the home directory and the repository. */
  readonly top: string;
  readonly home: string;
  /** The repository: a directory with a `.git`. */
  readonly repo: string;
  /** The notices since the last call of `open` or `readContext`. */
  readonly notices: string[];
  write(files: Files): void;
  /** Returns the context of a task in a directory of the repository. */
  readContext(directory?: string, options?: Partial<ContextOptions>): ProjectContext | null;
  open(directory?: string, options?: Partial<ContextOptions>): LiveContext;
}

/** Creates a home directory and a repository next to it. The paths of files begin with `home/` or `repo/`. */
export function makeTree(files: Files = {}): Tree {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'muster-context-')));
  createdDirectories.push(top);
  const home = join(top, 'home');
  const repo = join(top, 'repo');
  for (const path of [home, join(repo, '.git')]) mkdirSync(path, { recursive: true });
  const notices: string[] = [];
  const write = (more: Files): void => {
    for (const [path, text] of Object.entries(more)) {
      mkdirSync(dirname(join(top, path)), { recursive: true });
      writeFileSync(join(top, path), text);
    }
  };
  write(files);
  const open: Tree['open'] = (directory = '', options = {}) => {
    mkdirSync(join(repo, directory), { recursive: true });
    notices.length = 0;
    const environment = options.environment ?? { HOME: home };
    return new LiveContext({
      searchContext: createSearchContext(join(repo, directory), environment),
      home,
      environment,
      git: null,
      isExcluded: () => false,
      redact: (text) => text,
      clock: { now: () => 0, monotonic: () => 0 },
      onNotice: (line) => void notices.push(line),
      ...options,
    });
  };
  const readContext: Tree['readContext'] = (directory = '', options = {}) =>
    open(directory, options).getContext(join(repo, directory));
  return { top, home, repo, notices, write, readContext, open };
}

/** Formats the files of a context as `name: text`, in the order of the prompt. */
export function formatFiles(context: ProjectContext | null): readonly string[] {
  return (context?.files ?? []).map(({ name, text }) => `${name}: ${text}`);
}
