import { basename, dirname } from 'node:path';
import type { FilePort, FileStat } from '../../src/store/files/file-port.ts';

interface FileNode {
  readonly kind: 'file';
  readonly inode: number;
  modified: number;
  current: Buffer;
  durable: Buffer;
}

interface DirectoryNode {
  readonly kind: 'directory';
  readonly inode: number;
  current: Map<string, TreeNode>;
  durable: Map<string, TreeNode>;
}

type TreeNode = FileNode | DirectoryNode;

export interface PowerLossOptions {
  /** Number of the sync (from 0) that is skipped. */
  readonly withoutSync?: number;
  /** Number of the sync (from 0) that fails with EIO. */
  readonly failingSync?: number;
  /** Size of the disk in bytes. A write beyond it fails with ENOSPC after the bytes that fit were written. */
  readonly capacity?: number;
  /** Limit of bytes for each write. */
  readonly writeLimit?: number;
  /** Truncating fails with EIO. */
  readonly cannotTruncate?: boolean;
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

/**
 * A file system in memory that distinguishes written from durable data: the bytes of a file are durable after `datasync`,
 * its name after `syncDirectory`. `losePower` drops everything else. On request it keeps the names and drops only bytes,
 * as real file systems may do.
 */
export class PowerLossFiles implements FilePort {
  capacity: number;
  /** The path of each sync, in order. */
  readonly syncs: string[] = [];
  readonly #options: PowerLossOptions;
  readonly #open = new Map<number, { readonly node: FileNode; readonly path: string }>();
  readonly #root: DirectoryNode;
  #nextNumber = 10;
  #used = 0;

  constructor(options: PowerLossOptions = {}) {
    this.#options = options;
    this.capacity = options.capacity ?? Number.POSITIVE_INFINITY;
    this.#root = this.#newDirectory();
  }

  /** Number of open files. */
  get openFiles(): number {
    return this.#open.size;
  }

  /** Bytes written so far, minus truncated ones. Deletion frees nothing. */
  get used(): number {
    return this.#used;
  }

  losePower(options: { readonly keepNames?: boolean } = {}): void {
    this.#open.clear();
    forget(this.#root, options.keepNames ?? false);
  }

  openNew(path: string): number {
    const directory = this.#directory(dirname(path));
    if (directory.current.has(basename(path))) throw systemError('EEXIST', path);
    const empty = Buffer.alloc(0);
    const node: FileNode = {
      kind: 'file',
      inode: this.#number(),
      modified: Date.now(),
      current: empty,
      durable: empty,
    };
    directory.current.set(basename(path), node);
    return this.#openNode(node, path);
  }

  openAppend(path: string): number {
    return this.#openNode(this.#file(path), path);
  }

  openRead(path: string): number {
    return this.#openNode(this.#file(path), path);
  }

  write(fd: number, bytes: Uint8Array): number {
    const { node, path } = this.#opened(fd);
    const room = Math.max(0, this.capacity - this.#used);
    if (room === 0 && bytes.length > 0) throw systemError('ENOSPC', path);
    const count = Math.min(bytes.length, room, this.#options.writeLimit ?? bytes.length);
    node.current = Buffer.concat([node.current, bytes.subarray(0, count)]);
    this.#used += count;
    node.modified = Date.now();
    return count;
  }

  readAt(fd: number, into: Uint8Array, position: number): number {
    const bytes = this.#opened(fd).node.current.subarray(position, position + into.length);
    into.set(bytes);
    return bytes.length;
  }

  statOpen(fd: number): FileStat {
    return statOf(this.#opened(fd).node);
  }

  truncate(fd: number, length: number): void {
    const { node, path } = this.#opened(fd);
    if (this.#options.cannotTruncate === true) throw systemError('EIO', path);
    this.#used -= node.current.length - length;
    node.current = node.current.subarray(0, length);
  }

  async datasync(fd: number): Promise<void> {
    this.datasyncBlocking(fd);
  }

  datasyncBlocking(fd: number): void {
    const { node, path } = this.#opened(fd);
    this.#sync(path, () => {
      node.durable = node.current;
    });
  }

  close(fd: number): void {
    this.#opened(fd);
    this.#open.delete(fd);
  }

  readFile(path: string): Buffer {
    return this.#file(path).current;
  }

  stat(path: string): FileStat | undefined {
    const node = this.#find(path);
    return node === undefined ? undefined : statOf(node);
  }

  touch(path: string): void {
    this.#file(path).modified = Date.now();
  }

  rename(from: string, to: string): void {
    const node = this.#file(from);
    this.#directory(dirname(to)).current.set(basename(to), node);
    this.#directory(dirname(from)).current.delete(basename(from));
  }

  link(from: string, to: string): void {
    const node = this.#file(from);
    const directory = this.#directory(dirname(to));
    if (directory.current.has(basename(to))) throw systemError('EEXIST', to);
    directory.current.set(basename(to), node);
  }

  unlink(path: string): void {
    this.#file(path);
    this.#directory(dirname(path)).current.delete(basename(path));
  }

  makeDirectory(path: string): void {
    const parent = this.#directory(dirname(path));
    if (parent.current.has(basename(path))) throw systemError('EEXIST', path);
    parent.current.set(basename(path), this.#newDirectory());
  }

  list(path: string): readonly string[] {
    return [...this.#directory(path).current.keys()];
  }

  async syncDirectory(path: string): Promise<void> {
    const directory = this.#directory(path);
    this.#sync(path, () => {
      directory.durable = new Map(directory.current);
    });
  }

  #sync(path: string, run: () => void): void {
    const number = this.syncs.push(path) - 1;
    if (number === this.#options.failingSync) throw systemError('EIO', path);
    if (number !== this.#options.withoutSync) run();
  }

  #newDirectory(): DirectoryNode {
    return { kind: 'directory', inode: this.#number(), current: new Map(), durable: new Map() };
  }

  #number(): number {
    this.#nextNumber += 1;
    return this.#nextNumber;
  }

  #openNode(node: FileNode, path: string): number {
    const fd = this.#number();
    this.#open.set(fd, { node, path });
    return fd;
  }

  #opened(fd: number): { readonly node: FileNode; readonly path: string } {
    const opened = this.#open.get(fd);
    if (opened === undefined) throw systemError('EBADF', String(fd));
    return opened;
  }

  #find(path: string): TreeNode | undefined {
    let node: TreeNode | undefined = this.#root;
    for (const name of path.split('/').filter((part) => part !== '')) {
      if (node?.kind !== 'directory') return undefined;
      node = node.current.get(name);
    }
    return node;
  }

  #file(path: string): FileNode {
    const node = this.#find(path);
    if (node?.kind !== 'file') throw systemError(node === undefined ? 'ENOENT' : 'EISDIR', path);
    return node;
  }

  #directory(path: string): DirectoryNode {
    const node = this.#find(path);
    if (node?.kind !== 'directory') throw systemError('ENOENT', path);
    return node;
  }
}

function forget(node: TreeNode, keepNames: boolean): void {
  if (node.kind === 'file') {
    node.current = node.durable;
    return;
  }
  if (!keepNames) node.current = new Map(node.durable);
  for (const child of node.current.values()) forget(child, keepNames);
}

function statOf(node: TreeNode): FileStat {
  return {
    size: node.kind === 'file' ? node.current.length : 0,
    mode: node.kind === 'file' ? 0o600 : 0o700,
    uid: process.getuid?.() ?? 0,
    inode: node.inode,
    modified: node.kind === 'file' ? node.modified : 0,
    isDirectory: node.kind === 'directory',
  };
}
