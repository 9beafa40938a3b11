import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** What lies in every workspace: enough to be read, nothing that would get into a prompt by itself. */
const FILES = {
  'notes.txt': 'The parser reads one line at a time.\n'.repeat(20),
  'plan.txt': 'First the parser, then the printer.\n'.repeat(20),
};

const removable: string[] = [];

/**
 * Not before all is measured: for minutes after a file is removed, ext4 makes new ones at several
 * times the cost, as it steps over the places of those that went.
 */
process.once('exit', () => {
  for (const root of removable) rmSync(root, { recursive: true, force: true, maxRetries: 3 });
});

/** A home, a data directory and a workspace of their own; once it is disposed of, the exit removes it. */
export class Place {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'muster-bench-')));
  readonly workspace = join(this.root, 'workspace');
  private homes = 0;

  constructor() {
    mkdirSync(this.workspace);
    for (const [name, text] of Object.entries(FILES)) {
      writeFileSync(join(this.workspace, name), text);
    }
  }

  path(name: string): string {
    return join(this.root, name);
  }

  /** Where nothing has run before. */
  newHome(): string {
    this.homes += 1;
    const home = this.path(`home-${this.homes}`);
    mkdirSync(home);
    return home;
  }

  /** The whole environment of a program: nothing of the developer's own machine gets in. */
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
    removable.push(this.root);
  }
}
