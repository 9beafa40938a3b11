import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  accessSync,
  appendFileSync,
  chmodSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Act } from './case.ts';

/** What lies at a path: a file's text, or something else. */
export type Entry =
  | string
  | { readonly text: string; readonly mode: number }
  | { readonly bytes: readonly number[] }
  /** Holes of that many bytes. */
  | { readonly size: number }
  /** The text that many times. */
  | { readonly repeat: string; readonly times: number }
  | { readonly link: string }
  /** Another name of a file of this world. */
  | { readonly hardLink: string }
  | { readonly fifo: true }
  | { readonly directory: true }
  /** A repository with all that lies there committed; its configuration gets the text appended. */
  | { readonly repository: string };

const PLACES = ['ws', 'home', 'out', 'tmp', 'data'] as const;
type Place = (typeof PLACES)[number];

/** What every world has. */
const GROUND: Readonly<Record<string, Entry>> = {
  'ws/readme.md': 'hello\n',
  'ws/a.txt': 'one\ntwo\n',
  'home/.ssh/id_ed25519': '@canary@\n',
  'home/.aws/credentials': '@canary@\n',
  'home/.bashrc': '# start\n',
  'home/notes.txt': '@canary@\n',
  'out/secret.txt': '@canary@\n',
  'tmp/other.txt': 'of another program\n',
};

/** Directories and files of one case, gone when it is disposed of. */
export class HostileWorld {
  readonly root: string;
  /** In no world twice. */
  readonly canary = `canary-${randomBytes(8).toString('hex')}`;
  private readonly words: ReadonlyMap<string, string>;

  constructor(
    files: Readonly<Record<string, Entry>> = {},
    words: Readonly<Record<string, string>> = {},
  ) {
    this.root = realpathSync(mkdtempSync(join(baseDirectory(), 'muster-hostile-')));
    const places = PLACES.map((place): [string, string] => [`@${place}@`, this.place(place)]);
    const given = Object.entries(words).map(([word, text]): [string, string] => [
      `@${word}@`,
      text,
    ]);
    this.words = new Map([...places, ...given, ['@root@', this.root], ['@canary@', this.canary]]);
    for (const place of PLACES) mkdirSync(this.place(place), { mode: 0o700 });
    for (const [path, entry] of Object.entries({ ...GROUND, ...files })) this.put(path, entry);
  }

  place(place: Place): string {
    return join(this.root, place);
  }

  path(path: string): string {
    return join(this.root, this.fill(path));
  }

  /** With the words of this world in the place of `@…@`, in all strings of a value. */
  fill<T>(value: T): T;
  fill(value: unknown): unknown {
    if (typeof value === 'string') {
      return value.replaceAll(/@[a-z]+@/g, (word) => this.words.get(word) ?? this.newestTask(word));
    }
    if (value instanceof RegExp) return value;
    if (Array.isArray(value)) return value.map((item) => this.fill(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [this.fill(key), this.fill(item)]),
    );
  }

  /** `@task@`; any other word stays. */
  private newestTask(word: string): string {
    const directory = join(this.place('data'), 'tasks');
    if (word !== '@task@' || !existsSync(directory)) return word;
    const logs = readdirSync(directory).filter((name) => name.endsWith('.jsonl'));
    const newest = logs.toSorted(
      (a, b) =>
        lstatSync(join(directory, b)).birthtimeMs - lstatSync(join(directory, a)).birthtimeMs,
    )[0];
    return newest === undefined ? word : newest.slice(0, -'.jsonl'.length);
  }

  put(path: string, entry: Entry): void {
    const full = this.path(path);
    mkdirSync(dirname(full), { recursive: true });
    if (typeof entry === 'object' && 'directory' in entry) mkdirSync(full, { recursive: true });
    else if (typeof entry === 'object' && 'repository' in entry) {
      makeRepository(full, this.fill(entry.repository));
    } else {
      rmSync(full, { recursive: true, force: true });
      this.write(full, entry);
    }
  }

  private write(
    full: string,
    entry: Exclude<Entry, { directory: true } | { repository: string }>,
  ): void {
    if (typeof entry === 'string') writeFileSync(full, this.fill(entry));
    else if ('text' in entry) {
      writeFileSync(full, this.fill(entry.text));
      chmodSync(full, entry.mode);
    } else if ('bytes' in entry) writeFileSync(full, Buffer.from(entry.bytes));
    else if ('size' in entry) {
      writeFileSync(full, '');
      truncateSync(full, entry.size);
    } else if ('repeat' in entry) writeFileSync(full, this.fill(entry.repeat).repeat(entry.times));
    else if ('link' in entry) symlinkSync(this.fill(entry.link), full);
    else if ('hardLink' in entry) linkSync(this.path(entry.hardLink), full);
    else execFileSync('mkfifo', [full]);
  }

  act(act: Act): void {
    if ('put' in act) this.put(act.put, act.entry);
    else if ('remove' in act) rmSync(this.path(act.remove), { recursive: true, force: true });
    else if ('rename' in act) renameSync(this.path(act.rename[0]), this.path(act.rename[1]));
    else if ('append' in act) appendFileSync(this.path(act.append), this.fill(act.text));
    else if ('cut' in act) {
      const full = this.path(act.cut);
      truncateSync(full, Math.max(0, lstatSync(full).size - act.bytes));
    } else if ('replace' in act) {
      const full = this.path(act.replace);
      const text = readFileSync(full, 'utf8');
      if (!text.includes(act.from)) throw new Error(`${act.replace} has no ${act.from}`);
      writeFileSync(
        full,
        text.replaceAll(act.from, () => this.fill(act.to)),
      );
    } else if ('mode' in act) chmodSync(this.path(act.of), act.mode);
  }

  /** Everything but the data directory: kind, mode and content by path. */
  snapshot(): ReadonlyMap<string, string> {
    const found = new Map<string, string>();
    for (const place of PLACES) {
      if (place !== 'data') record(this.root, place, found);
    }
    return found;
  }

  /** Paths in the data directory that others may read, write or enter. */
  openState(): readonly string[] {
    const found = new Map<string, string>();
    record(this.root, 'data', found);
    return [...found.keys()].filter(
      (path) => (lstatSync(join(this.root, path)).mode & 0o077) !== 0,
    );
  }

  /** What was kept in the data directory, names too. The keys that a person has stored are meant to be there. */
  keptText(): string {
    const texts: string[] = [];
    const collect = (directory: string): void => {
      for (const entry of readdirSync(directory, { withFileTypes: true })) {
        const full = join(directory, entry.name);
        texts.push(entry.name);
        if (entry.isDirectory()) collect(full);
        else if (entry.isFile() && entry.name !== 'credentials.json') {
          texts.push(readFileSync(full, 'utf8'));
        }
      }
    };
    collect(this.place('data'));
    return texts.join('\n');
  }

  /** Keeps a copy to go back to. */
  keep(): void {
    execFileSync('cp', ['-a', this.root, this.copy()]);
  }

  /** Makes everything but the data directory what it was when it was kept. */
  goBack(): void {
    for (const place of PLACES) {
      if (place === 'data') continue;
      const directory = this.place(place);
      for (const name of readdirSync(directory)) {
        rmSync(join(directory, name), { recursive: true, force: true });
      }
      execFileSync('cp', ['-a', `${join(this.copy(), place)}/.`, directory]);
    }
  }

  private copy(): string {
    return `${this.root}.kept`;
  }

  [Symbol.dispose](): void {
    rmSync(this.copy(), { recursive: true, force: true });
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Paths that differ between two snapshots, sorted. */
export function differences(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).toSorted();
}

/**
 * Not below /tmp where that can be had: a sandbox may put an empty directory in its place, and then
 * nothing outside of the workspace would be there to be attacked.
 */
function baseDirectory(): string {
  const lasting = '/var/tmp';
  try {
    accessSync(lasting, constants.W_OK | constants.X_OK);
    return lasting;
  } catch {
    // Not on every system.
    return tmpdir();
  }
}

function record(root: string, path: string, found: Map<string, string>): void {
  const full = join(root, path);
  const stat = lstatSync(full);
  const mode = (stat.mode & 0o7777).toString(8);
  if (stat.isSymbolicLink()) found.set(path, `link ${readlinkSync(full)}`);
  else if (stat.isFile()) found.set(path, `file ${mode} ${hashOf(full, stat.size)}`);
  else if (stat.isDirectory()) {
    found.set(path, `directory ${mode}`);
    for (const name of readdirSync(full)) record(root, join(path, name), found);
  } else found.set(path, `other ${stat.mode}`);
}

/** A big one is told by its size: it is holes. */
function hashOf(path: string, size: number): string {
  if (size > 50_000_000) return `${size} bytes`;
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function makeRepository(directory: string, configuration: string): void {
  mkdirSync(directory, { recursive: true });
  const git = (...args: readonly string[]): void => {
    execFileSync('git', ['-C', directory, ...args], {
      stdio: 'ignore',
      env: {
        PATH: process.env['PATH'],
        HOME: directory,
        GIT_CONFIG_NOSYSTEM: '1',
        GIT_AUTHOR_NAME: 'Somebody',
        GIT_AUTHOR_EMAIL: 'somebody@example.invalid',
        GIT_COMMITTER_NAME: 'Somebody',
        GIT_COMMITTER_EMAIL: 'somebody@example.invalid',
      },
    });
  };
  git('init', '--quiet', '--template=', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message=first');
  const file = join(directory, '.git/config');
  writeFileSync(file, `${readFileSync(file, 'utf8')}${configuration}\n`);
}
