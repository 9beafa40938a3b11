import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { buildGitEnvironment } from './git-environment.ts';
import { stdioWithoutInherited } from '../processes/inherited-descriptors.ts';

/** An object of a git repository. */
export interface GitObject {
  readonly type: 'commit' | 'tree' | 'blob' | 'tag';
  readonly content: Buffer;
}

/** The maximum size of an object in bytes. A larger object counts as unreadable. */
const MAX_OBJECT_BYTES = 32 * 1024 * 1024;
const HEADER = /^([0-9a-f]{40,64}) (commit|tree|blob|tag) (\d+)$/;

/**
 * Reads objects of a repository by their ids with one `git cat-file --batch`. Each object is checked against
 * its id, because commands can write any file of the object store and git itself does not check.
 */
export class ObjectReader {
  private readonly child: ChildProcess;
  private waiting: { id: string; resolve: (object: GitObject | null) => void } | null = null;
  private received = Buffer.alloc(0);
  private isOver = false;

  /** `git` is the path of the program. Both paths must be absolute. */
  constructor(git: string, gitDirectory: string) {
    this.child = spawn(git, [`--git-dir=${gitDirectory}`, 'cat-file', '--batch'], {
      cwd: '/',
      env: {
        ...buildGitEnvironment({ access: 'read-only', confined: false }),
        GIT_NO_REPLACE_OBJECTS: '1',
        // A partial clone must not request missing objects from its remote.
        GIT_NO_LAZY_FETCH: '1',
        GIT_ALLOW_PROTOCOL: '',
      },
      stdio: ['pipe', 'pipe', 'ignore', ...stdioWithoutInherited()],
    });
    this.child.stdout?.on('data', (chunk: Buffer) => this.take(chunk));
    this.child.once('error', () => this.end());
    this.child.once('close', () => this.end());
    // Writing fails if git has ended.
    this.child.stdin?.on('error', () => this.end());
  }

  /**
   * Reads an object. Wait for the result before the next call. Returns null if the object does not exist, is too large,
   * or does not match its id.
   */
  read(id: string): Promise<GitObject | null> {
    if (this.isOver) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.waiting = { id, resolve };
      this.child.stdin?.write(`${id}\n`);
    });
  }

  close(): void {
    this.child.kill('SIGKILL');
    this.end();
  }

  private end(): void {
    this.isOver = true;
    this.answer(null);
  }

  private take(chunk: Buffer): void {
    this.received = Buffer.concat([this.received, chunk]);
    const lineEnd = this.received.indexOf(10);
    if (this.waiting === null || lineEnd === -1) return;
    const header = HEADER.exec(this.received.toString('latin1', 0, lineEnd));
    if (header === null) {
      this.received = Buffer.alloc(0);
      this.answer(null);
      return;
    }
    const [, , type = '', length = ''] = header;
    const size = Number(length);
    if (size > MAX_OBJECT_BYTES) {
      this.close();
      return;
    }
    const end = lineEnd + 1 + size;
    if (this.received.length <= end) return;
    const content = this.received.subarray(lineEnd + 1, end);
    this.received = this.received.subarray(end + 1);
    const { id } = this.waiting;
    this.answer(
      hashGitObject(type, content, id.length) === id ? { type: toObjectType(type), content } : null,
    );
  }

  private answer(object: GitObject | null): void {
    const { waiting } = this;
    this.waiting = null;
    waiting?.resolve(object);
  }
}

/** Computes the id of an object. `length` is the length of ids in the repository: 64 for SHA-256, otherwise SHA-1. */
export function hashGitObject(type: string, content: Buffer, length: number): string {
  const hash = createHash(length === 64 ? 'sha256' : 'sha1');
  return hash.update(`${type} ${content.length}\0`).update(content).digest('hex');
}

function toObjectType(type: string): GitObject['type'] {
  return type === 'commit' || type === 'tree' || type === 'tag' ? type : 'blob';
}
