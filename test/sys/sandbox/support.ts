import { text } from 'node:stream/consumers';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

import type { CacheSettings } from '../../../src/sys/sandbox/package-caches.ts';
import { openSandbox } from '../../../src/sys/sandbox/open-sandbox.ts';
import { spawnProcessGroup } from '../../../src/sys/processes/process-group.ts';
import type { Confinement, Sandbox } from '../../../src/sys/sandbox/sandbox.ts';
import { needs } from '../../needs.ts';

/** What the tests of commands in bubblewrap need. */
export const HAS_BUBBLEWRAP = process.platform === 'linux' && needs('bwrap', 'bubblewrap');

/** A workspace, a home and a directory for records, outside of what is private in every sandbox. */
export class Place {
  readonly base: string;
  readonly root: string;
  readonly home: string;
  readonly records: string;

  constructor({ below = '/var/tmp', name = 'work' } = {}) {
    this.base = realpathSync(mkdtempSync(join(below, 'muster-sandbox-')));
    onTestFinished(() => rmSync(this.base, { recursive: true, force: true }));
    this.root = this.directory(name);
    this.home = this.directory('home');
    this.records = join(this.base, 'records');
  }

  directory(name: string): string {
    const path = join(this.base, name);
    mkdirSync(path, { recursive: true });
    return path;
  }

  /** Below the base. */
  write(name: string, text = 'text\n'): string {
    const path = join(this.base, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  /** A Node in the workspace: the one that runs this may lie where a sandbox shows nothing. */
  node(): string {
    const path = join(this.root, 'node');
    copyFileSync(process.execPath, path);
    return path;
  }

  sandbox(
    overrides: {
      readonly home?: string;
      readonly state?: string;
      readonly records?: string;
      readonly caches?: CacheSettings;
      readonly maxProcesses?: number;
    } = {},
  ): Sandbox {
    return openSandbox({
      kind: 'bwrap',
      platform: process.platform,
      path: '/usr/bin:/bin',
      roots: [this.root],
      records: overrides.records ?? this.records,
      maxProcesses: overrides.maxProcesses ?? 2048,
      ...(overrides.caches === undefined ? {} : { caches: overrides.caches }),
      hostPaths: {
        homes: [overrides.home ?? this.home],
        stateDirectories: overrides.state === undefined ? [] : [overrides.state],
        runtimeDirectories: [],
        sockets: [],
      },
    });
  }

  /** Everything below the base, as paths relative to it. */
  tree(): readonly string[] {
    return readdirSync(this.base, { recursive: true, encoding: 'utf8' }).toSorted();
  }
}

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly report: string;
}

export interface RunOptions extends Partial<Confinement> {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** As often as a tool of an agent tries it. */
export const MAX_ATTEMPTS = 4;

/** Runs a line of bash in a sandbox that is there. */
export async function runIn(sandbox: Sandbox, command: string, options: RunOptions): Promise<Ran> {
  const state = await sandbox.state();
  if (!state.on) throw new Error(`no sandbox: ${state.because}`);
  for (let tries = 1; ; tries += 1) {
    const ran = await runOnce(sandbox, command, options);
    // A socket of this machine, which is to be hidden, may go meanwhile.
    if (tries === MAX_ATTEMPTS || !ran.report.startsWith("bwrap: Can't create file")) return ran;
  }
}

async function runOnce(
  sandbox: Sandbox,
  command: string,
  {
    access = 'workspace',
    roots = [],
    network = false,
    runsGitAlone = false,
    denied,
    cwd,
    env = {},
  }: RunOptions,
): Promise<Ran> {
  const [first = '/'] = roots;
  const confined = sandbox.confine({
    argv: ['/bin/bash', '--noprofile', '--norc', '-c', command],
    cwd: cwd ?? first,
    env: { PATH: '/usr/bin:/bin', ...env },
    confinement: {
      access,
      roots,
      network,
      runsGitAlone,
      ...(denied === undefined ? {} : { denied }),
    },
    stderr: 'monitor',
  });
  try {
    const { file, args, startCheck } = confined;
    const group = spawnProcessGroup(file, args, { cwd: '/', env: confined.env, startCheck });
    const [{ code }, out, report] = await Promise.all([
      group.exited,
      text(group.stdout),
      text(group.stderr),
    ]);
    await group.end({ graceMs: 0 });
    await confined.settle();
    return { code, out, report };
  } finally {
    confined.release();
  }
}
