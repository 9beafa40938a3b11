import { spawnSync } from 'node:child_process';

export interface TreeFile {
  readonly path: string;
  /** The id of the content. */
  readonly blob: string;
  readonly bytes: number;
}

const MAX_OUTPUT = 2 ** 30;

/** Reads trees and files of a git directory, without a work tree. */
export class History {
  private readonly directory: string;

  constructor(directory: string) {
    this.directory = directory;
  }

  /** Lists the regular files of a commit. */
  files(commit: string): readonly TreeFile[] {
    const listed = this.git(['ls-tree', '-r', '-l', '-z', commit]).toString('utf8');
    return listed.split('\0').flatMap((line) => {
      const [, mode = '', blob = '', bytes = '', path = ''] =
        /^(\d+) \w+ (\w+) +(\S+)\t([^]*)$/.exec(line) ?? [];
      return mode.startsWith('100') ? [{ path, blob, bytes: Number(bytes) }] : [];
    });
  }

  contents(blobs: readonly string[]): ReadonlyMap<string, Buffer> {
    const found = new Map<string, Buffer>();
    if (blobs.length === 0) return found;
    const output = this.git(['cat-file', '--batch'], `${blobs.join('\n')}\n`);
    let at = 0;
    for (const blob of blobs) {
      const end = output.indexOf(10, at);
      const size = Number(output.subarray(at, end).toString('utf8').split(' ')[2]);
      found.set(blob, output.subarray(end + 1, end + 1 + size));
      at = end + 2 + size;
    }
    return found;
  }

  private git(args: readonly string[], input = ''): Buffer {
    const { status, stdout, stderr } = spawnSync('git', ['--git-dir', this.directory, ...args], {
      input,
      maxBuffer: MAX_OUTPUT,
    });
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.toString('utf8').trim()}`);
    return stdout;
  }
}
