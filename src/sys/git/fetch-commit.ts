import { mkdirSync } from 'node:fs';
import { MusterError } from '../../base/errors.ts';
import { listNames, quoteForShell } from '../../base/text.ts';
import type { Environment } from '../env.ts';
import { findTrustedProgram } from '../processes/find-program.ts';
import { buildNetworkEnvironment } from '../processes/command-environment.ts';
import { runProgramToEnd } from '../processes/run-program-to-end.ts';
import { buildGitEnvironment } from './git-environment.ts';
import { ObjectReader } from './object-reader.ts';

/** A commit of another repository that is to be read. */
export interface RemoteCommit {
  /** An https, ssh or file address. */
  readonly url: string;
  /** A branch, a tag or a commit. Null for the default branch. */
  readonly ref: string | null;
  /** The directory of which the files are read; empty for all. */
  readonly directory: string;
}

/** Receives the files of a commit. */
export interface CommitVisitor {
  /** Called before a file is read. Throws to end the reading. */
  check(path: string, size: number): void;
  /** Called for a link, which is not read. */
  leaveOut(path: string): void;
  /** Receives a file. */
  add(file: {
    readonly path: string;
    readonly bytes: Buffer;
    readonly isExecutable: boolean;
  }): void;
  /** Returns the error for an entry that is neither a file nor a directory. */
  refuse(reason: string): Error;
}

interface FetchOptions {
  /** An empty directory that the caller removes afterwards. Absolute. */
  readonly scratch: string;
  readonly environment: Environment;
  /** The directories whose programs are not run. Absolute. */
  readonly untrusted: readonly string[];
  readonly signal: AbortSignal;
}

/** The time limit for fetching, and that for each other command. */
const FETCH_TIMEOUT_MS = 180_000;
const COMMAND_TIMEOUT_MS = 30_000;
/** The maximum size of one file that git writes, such as a pack, in blocks of 512 bytes: 1 GB. */
const MAX_FILE_BLOCKS = 2 * 1024 * 1024;
const MAX_LIST_BYTES = 32 * 1024 * 1024;

/**
 * Variables of the user with which git reaches servers as usual. Without a terminal and SSH_ASKPASS, ssh asks nothing and
 * fails instead.
 */
const KEPT_VARIABLES = listNames(
  'HOME XDG_CONFIG_HOME PATH SSH_AUTH_SOCK GIT_SSH GIT_SSH_COMMAND TMPDIR USER',
);

const TREE_ENTRY = /^(\d{6}) (blob|tree|commit) ([0-9a-f]{40,64}) +(\d+|-)\t(.*)$/s;

/**
 * Fetches one commit without its history, and reads the files in one directory of it. Nothing is checked out, so that
 * neither filters nor hooks run, and submodules are left out. Returns the id of the commit. Throws MusterError if that
 * fails, or what the visitor throws.
 */
export async function fetchCommit(
  { url, ref, directory }: RemoteCommit,
  visitor: CommitVisitor,
  { scratch, environment, untrusted, signal }: FetchOptions,
): Promise<string> {
  const git = findTrustedProgram('git', environment['PATH'] ?? '', untrusted);
  if (git === undefined)
    throw new MusterError('NOT_FOUND', 'git is not installed: install it first');
  mkdirSync(scratch, { recursive: true });
  const env = buildFetchEnvironment(environment);
  const run = async (args: readonly string[], timeoutMs: number): Promise<Buffer> => {
    // A shell sets the limit, because Node cannot.
    const command = ['exec', git, `--git-dir=${scratch}`, ...args].map((word, index) =>
      index === 0 ? word : quoteForShell(word),
    );
    const script = `ulimit -f ${MAX_FILE_BLOCKS}; ${command.join(' ')}`;
    const options = { cwd: scratch, env, timeoutMs, maxBytes: MAX_LIST_BYTES, signal };
    const { failure, stdout } = await runProgramToEnd('/bin/sh', ['-c', script], options);
    if (failure === null) return stdout;
    const place = ref === null ? url : `${url} (${ref})`;
    throw new MusterError('PROVIDER_ERROR', `git could not read ${place}: ${failure}`);
  };
  await run(['init', '--quiet', '--bare', '--template='], COMMAND_TIMEOUT_MS);
  const fetch = ['fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules'];
  await run(
    [...fetch, '--no-write-fetch-head', '--', url, `+${ref ?? 'HEAD'}:refs/wanted`],
    FETCH_TIMEOUT_MS,
  );
  const parsed = await run(['rev-parse', '--verify', 'refs/wanted^{commit}'], COMMAND_TIMEOUT_MS);
  const commit = parsed.toString('latin1').trim();
  const place = directory === '' ? commit : `${commit}:${directory}`;
  const listed = await run(['ls-tree', '-r', '-z', '-l', '--full-tree', place], COMMAND_TIMEOUT_MS);
  const reader = new ObjectReader(git, scratch);
  try {
    for (const line of listed.toString('utf8').split('\0')) {
      if (line === '') continue;
      const [, mode = '', type, id = '', size = '', path = ''] = TREE_ENTRY.exec(line) ?? [];
      // A submodule is a commit of another repository.
      if (type === 'commit') continue;
      if (mode === '120000') {
        visitor.leaveOut(path);
        continue;
      }
      if (type !== 'blob') throw visitor.refuse(`${path} is not a file`);
      visitor.check(path, Number(size));
      // oxlint-disable-next-line no-await-in-loop -- the reader reads one object at a time
      const object = await reader.read(id);
      if (object === null) throw visitor.refuse(`${path} could not be read from the repository`);
      visitor.add({ path, bytes: object.content, isExecutable: mode === '100755' });
    }
  } finally {
    reader.close();
  }
  return commit;
}

function buildFetchEnvironment(own: Environment): Environment {
  const kept = KEPT_VARIABLES.flatMap((name) => {
    const value = own[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(kept),
    ...buildNetworkEnvironment(own, true),
    ...buildGitEnvironment({ access: 'read-only', confined: false }),
    GIT_ALLOW_PROTOCOL: 'https:ssh:file',
    GIT_NO_REPLACE_OBJECTS: '1',
    LC_ALL: 'C',
  };
}
