import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The files in every workspace: text to read, and nothing that enters a prompt by itself. */
const FILES = {
  'notes.txt': 'The parser reads one line at a time.\n'.repeat(20),
  'plan.txt': 'First the parser, then the printer.\n'.repeat(20),
};

const removableRoots: string[] = [];

/**
 * Directories are removed at the end of the process and not before: for minutes after a file was removed,
 * ext4 needs several times as long to create a new one, which would distort the rows that follow.
 */
process.once('exit', () => {
  for (const root of removableRoots) {
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  }
});

/** A temporary directory with a workspace and home directories. Its files are removed when the process exits. */
export class Fixture {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'muster-bench-')));
  readonly workspace = join(this.root, 'workspace');
  private homeCount = 0;

  constructor() {
    mkdirSync(this.workspace);
    for (const [name, text] of Object.entries(FILES)) {
      writeFileSync(join(this.workspace, name), text);
    }
  }

  path(name: string): string {
    return join(this.root, name);
  }

  /** Creates an empty home directory, in which no program has run before. */
  newHome(): string {
    this.homeCount += 1;
    const home = this.path(`home-${this.homeCount}`);
    mkdirSync(home);
    return home;
  }

  /** All environment variables for a program. None of the developer's own variables are passed on. */
  environment(home: string, extra: Readonly<Record<string, string>> = {}): Record<string, string> {
    return {
      PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: home,
      LANG: 'C.UTF-8',
      MUSTER_DATA_DIR: join(home, 'data'),
      ...extra,
    };
  }

  [Symbol.dispose](): void {
    removableRoots.push(this.root);
  }
}
