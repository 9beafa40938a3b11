import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readPlugin } from '../../src/plugins/read-plugin.ts';
import type { MarketplaceEntry } from '../../src/plugins/marketplace.ts';
import type { PluginFile } from '../../src/plugins/plugin-files.ts';
import type { StateOptions } from '../../src/trust/state-directory.ts';

/** Files by their paths. A value that is no text is written as JSON. */
export type Texts = Readonly<Record<string, unknown>>;

export function toFiles(texts: Texts): readonly PluginFile[] {
  return Object.entries(texts).map(([path, value]) => ({
    path,
    bytes: Buffer.from(toText(value)),
    isExecutable: path.endsWith('.sh'),
  }));
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function read(
  texts: Texts,
  entry: MarketplaceEntry | null = null,
  directory: string | null = null,
) {
  return readPlugin(toFiles(texts), { source: 'kit', entry, directory });
}

/** A directory with a data directory and a project, gone when it is disposed of. */
export class Machine {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'muster-plugins-')));
  readonly state: StateOptions = {
    environment: { PATH: process.env['PATH'] ?? '', HOME: join(this.root, 'home') },
    home: join(this.root, 'home'),
    cwd: join(this.root, 'project'),
    dataDir: join(this.root, 'data'),
  };
  readonly data = join(this.root, 'data');

  constructor() {
    for (const name of ['home', 'project']) mkdirSync(join(this.root, name));
  }

  /** Writes files into a directory beside the project and returns its path. */
  write(name: string, texts: Texts): string {
    const directory = join(this.root, name);
    for (const [path, value] of Object.entries(texts)) {
      const full = join(directory, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, toText(value));
    }
    return directory;
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
