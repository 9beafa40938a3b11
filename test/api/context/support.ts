import { createSearchContext } from '../../../src/agents/loader/search-context.ts';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { LiveContext, type ContextOptions } from '../../../src/api/context/live-context.ts';
import type { ProjectContext } from '../../../src/protocol/project-context.ts';

const made: string[] = [];

afterAll(() => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

type Files = Readonly<Record<string, string>>;

export interface Tree {
  /** Holds all of it. */
  readonly top: string;
  readonly home: string;
  /** With a `.git`. */
  readonly repo: string;
  /** What was told of the last look. */
  readonly notices: string[];
  write(files: Files): void;
  /** What a task in this directory of the repository is told. */
  look(directory?: string, options?: Partial<ContextOptions>): ProjectContext | null;
  open(directory?: string, options?: Partial<ContextOptions>): LiveContext;
}

/** A home and, beside it, a repository; paths begin with `home/` and `repo/`. */
export function makeTree(files: Files = {}): Tree {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'muster-context-')));
  made.push(top);
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
  const look: Tree['look'] = (directory = '', options = {}) =>
    open(directory, options).getContext(join(repo, directory));
  return { top, home, repo, notices, write, look, open };
}

/** `name: text`, as they stand in the prompt. */
export function told(context: ProjectContext | null): readonly string[] {
  return (context?.files ?? []).map(({ name, text }) => `${name}: ${text}`);
}
