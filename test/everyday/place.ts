import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';

/** What two runs of one program never write alike: dates, hashes of paths, links to the place itself. */
const UNLIKE =
  /(?:^|\/)(?:\.git|target|__pycache__|\.modules\.yaml|\.yarn-integrity|\.pnpm-workspace-state[^/]*|addon\/build|remote\.git)(?:\/|$)|^v\/|\.(?:pyc|tgz|db)$/;
const MAX_COMPARED = 256 * 1024;
const IDENTITY =
  '[user]\n\tname = a\n\temail = a@b\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n';

/** A home and a workspace, outside of what a sandbox hides. */
export class EverydayPlace {
  readonly home: string;
  readonly workspace: string;
  readonly root: string;

  constructor(root: string) {
    this.root = root;
    this.home = join(root, 'home');
    this.workspace = join(root, 'w');
    for (const path of [this.home, this.workspace]) mkdirSync(path, { recursive: true });
    writeFileSync(join(this.home, '.gitconfig'), IDENTITY);
  }

  /** The same for a command with and without a sandbox. */
  environment(path: string): Record<string, string> {
    return {
      PATH: path,
      HOME: this.home,
      LANG: 'C.UTF-8',
      GIT_AUTHOR_DATE: '2026-01-02T03:04:05Z',
      GIT_COMMITTER_DATE: '2026-01-02T03:04:05Z',
    };
  }

  /** Every file with its kind, permissions and content, and what the repositories hold; without the name of this place. */
  state(): readonly string[] {
    const lines: string[] = [];
    const waiting = [this.workspace];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      for (const name of readdirSync(at)) {
        const path = join(at, name);
        const shown = relative(this.workspace, path);
        if (name === '.git') lines.push(...this.repository(at));
        if (UNLIKE.test(shown)) continue;
        const stats = lstatSync(path);
        if (stats.isDirectory()) waiting.push(path);
        lines.push(`${shown} ${(stats.mode & 0o777).toString(8)} ${this.content(path, stats)}`);
      }
    }
    return lines.toSorted();
  }

  /** A text without the name of this place. */
  plain(text: string): string {
    return text.replaceAll(this.root, '<place>');
  }

  private content(path: string, stats: ReturnType<typeof lstatSync>): string {
    if (stats === undefined || stats.isDirectory()) return 'directory';
    if (stats.isSymbolicLink()) return `-> ${this.plain(readlinkSync(path))}`;
    if (stats.size > MAX_COMPARED) return `${stats.size} bytes`;
    const text = this.plain(readFileSync(path, 'latin1'));
    return createHash('sha256').update(text).digest('hex').slice(0, 12);
  }

  private repository(top: string): readonly string[] {
    const ask = (...args: readonly string[]): string => {
      const options = { cwd: top, encoding: 'utf8', stdio: 'pipe' } as const;
      return this.plain(
        execFileSync('git', args, { ...options, env: { ...process.env, HOME: this.home } }),
      );
    };
    const asked = [
      ['status', '--porcelain', '--branch'],
      ['for-each-ref', '--format=%(refname) %(objectname)'],
      ['config', '--local', '--list'],
      ['ls-files', '--stage'],
      ['stash', 'list', '--format=%gd %s'],
    ];
    return asked.map((args) => `${relative(this.workspace, top)} git ${args[0]}: ${ask(...args)}`);
  }
}
