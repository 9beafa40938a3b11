import { randomBytes } from 'node:crypto';
import { MusterError } from '../base/errors.ts';
import { onAbort } from '../base/async.ts';
import type { Environment } from '../sys/env.ts';
import { findTrustedProgram } from '../sys/processes/find-program.ts';
import { endMarkedProcesses, spawnProcessGroup } from '../sys/processes/process-group.ts';
import { START_CHECK } from '../sys/processes/start-check.ts';
import { ErrorOutput } from '../sys/processes/server-process.ts';

/** The repository and files on which a git command works. All paths are absolute. */
export interface GitPlace {
  readonly gitDirectory: string;
  readonly workTree: string;
  /** Default: the index of the git directory. */
  readonly index?: string;
}

/** How a git command is run. */
interface GitRunOptions {
  /** Written to stdin. A string is written as bytes (latin1). Default: nothing. */
  readonly input?: string | Buffer;
  /** The exit codes that are no error. Default: 0. */
  readonly codes?: readonly number[];
}

/** A failure of git. The message has the last lines of what git printed. */
export class GitError extends MusterError {
  /** The last lines that git printed to stderr. Outside text. */
  readonly output: string;

  constructor(command: string, place: GitPlace, output: string) {
    // Git does not say why it could not write a file of the working tree.
    const hint = /unable to write file/.test(output) ? ' (is the disk full?)' : '';
    super(
      'INTERNAL_ERROR',
      `${command} failed in ${place.workTree}: ${output || 'no message'}${hint}`,
    );
    this.output = output;
  }
}

/**
 * The arguments of a shell that becomes a program after the start check. A process does not have its environment, and so
 * not the mark, between its creation and `exec`. If Muster is killed just then, recovery does not find the process, and
 * nothing may begin in it later. Once the shell has asked, it has the mark.
 */
const START = ['-c', [...START_CHECK, 'exec "$@"'].join('\n'), 'muster'];

/** The maximum output of a command, in bytes. */
const MAX_OUTPUT_BYTES = 512 * 1024 * 1024;
const MAX_MESSAGE_LENGTH = 600;
/** The environment variable by which the git processes of a workspace are found after a crash. */
const MARK_VARIABLE = 'MUSTER_WORKSPACE';

/** Settings that override all files. Nothing may run a program, and what is stored about files must be exact. */
const SETTINGS: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.pager': 'cat',
  'core.editor': 'true',
  'core.untrackedCache': 'false',
  'core.splitIndex': 'false',
  'core.trustctime': 'true',
  'core.checkStat': 'default',
  'core.safecrlf': 'false',
  'core.quotePath': 'false',
  // The commit graph is among the objects, which a task can write.
  'core.commitGraph': 'false',
  'commit.gpgSign': 'false',
  'diff.external': '',
  'gc.auto': '0',
  'maintenance.auto': 'false',
  'submodule.recurse': 'false',
  'advice.detachedHead': 'false',
  'worktree.useRelativePaths': 'false',
};

/** Variables that are kept. All others could redirect git. */
const KEPT_VARIABLES = ['HOME', 'XDG_CONFIG_HOME', 'PATH', 'TMPDIR'];

/** Runs git for workspaces: without hooks, filters, prompts, or anything else that a repository can make git run. */
export class WorkspaceGit {
  /** The names of the configured filters, none of which is ever run. */
  readonly filters: ReadonlySet<string>;
  /** Whether the repository treats names that differ only in case as the same. */
  readonly ignoresCase: boolean;
  readonly #program: string;
  readonly #environment: Environment;
  readonly #signal: AbortSignal;

  private constructor(
    program: string,
    environment: Environment,
    signal: AbortSignal,
    configured: readonly Setting[],
  ) {
    this.#program = program;
    this.#signal = signal;
    const names = new Set(
      configured.flatMap(({ name }) => /^filter\.(.+)\.\w+$/s.exec(name)?.[1] ?? []),
    );
    this.filters = names;
    const last = (name: string): string | undefined =>
      configured.findLast((setting) => setting.name === name)?.value;
    this.ignoresCase = last('core.ignorecase') === 'true';
    const off = [...names].flatMap((name): readonly (readonly [string, string])[] => [
      [`filter.${name}.clean`, ''],
      [`filter.${name}.smudge`, ''],
      [`filter.${name}.process`, ''],
      [`filter.${name}.required`, 'false'],
    ]);
    const user = last('user.name') || 'Muster';
    const email = last('user.email') || 'muster@localhost';
    this.#environment = {
      ...environment,
      ...toConfigVariables([...Object.entries(SETTINGS), ...off]),
      GIT_AUTHOR_NAME: user,
      GIT_AUTHOR_EMAIL: email,
      GIT_COMMITTER_NAME: user,
      GIT_COMMITTER_EMAIL: email,
    };
  }

  /**
   * Prepares git for a repository. `id` is the id of the task, `environment` are the variables of the user. Throws
   * MusterError if git is missing or cannot read its configuration.
   */
  static async open(
    place: GitPlace,
    { id, environment, signal }: GitOpenOptions,
  ): Promise<WorkspaceGit> {
    const program = findTrustedProgram('git', environment['PATH'] ?? '', [place.workTree]);
    if (program === undefined) {
      throw new MusterError(
        'NOT_FOUND',
        'git is not installed, and the workspace of a task in a repository needs it; install git or run the task without isolation',
      );
    }
    const kept = KEPT_VARIABLES.map((name) => [name, environment[name]] as const);
    const base: Environment = {
      ...Object.fromEntries(kept.filter(([, value]) => value !== undefined)),
      GIT_TERMINAL_PROMPT: '0',
      GIT_PAGER: 'cat',
      GIT_EDITOR: 'true',
      GIT_NO_REPLACE_OBJECTS: '1',
      // A partial clone must not request missing objects. Before git 2.44 only the second variable has this effect.
      GIT_NO_LAZY_FETCH: '1',
      GIT_ALLOW_PROTOCOL: '',
      GIT_OPTIONAL_LOCKS: '0',
      LC_ALL: 'C',
      [MARK_VARIABLE]: id,
    };
    const reader = new WorkspaceGit(program, base, signal, []);
    const pattern = '^(filter\\..*|user\\.(name|email)|core\\.ignorecase)$';
    const output = await reader.run(place, ['config', '-z', '--get-regexp', pattern], {
      codes: [0, 1],
    });
    return new WorkspaceGit(program, base, signal, parseSettings(output));
  }

  /** Runs a git command. Returns its output. Throws GitError if it fails, and the signal's reason if it aborts. */
  async run(
    place: GitPlace,
    args: readonly string[],
    { input = '', codes = [0] }: GitRunOptions = {},
  ): Promise<Buffer> {
    this.#signal.throwIfAborted();
    const group = spawnProcessGroup('/bin/sh', [...START, this.#program, ...args], {
      cwd: place.workTree,
      env: {
        ...this.#environment,
        GIT_DIR: place.gitDirectory,
        GIT_WORK_TREE: place.workTree,
        ...(place.index === undefined ? {} : { GIT_INDEX_FILE: place.index }),
      },
      hasInput: true,
      startCheck: true,
    });
    const errors = new ErrorOutput(group.stderr);
    const chunks: Buffer[] = [];
    let length = 0;
    group.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= MAX_OUTPUT_BYTES) chunks.push(chunk);
      else void group.end({ graceMs: 0 });
    });
    // A command that ends without reading its input has said why.
    group.stdin?.on('error', () => {});
    group.stdin?.end(typeof input === 'string' ? Buffer.from(input, 'latin1') : input);
    const read = Promise.all([group.stdout, group.stderr].map(waitForEnd));
    const removeListener = onAbort(this.#signal, () => void group.end());
    const command = `git ${args.find((arg) => /^[a-z-]+$/.test(arg) && arg !== '-c') ?? ''}`;
    try {
      const { code } = await group.exited;
      await read;
      this.#signal.throwIfAborted();
      if (length > MAX_OUTPUT_BYTES) {
        throw new MusterError(
          'LIMIT_EXCEEDED',
          `${command} in ${place.workTree} printed more than ${MAX_OUTPUT_BYTES} bytes, which is the limit for a workspace`,
        );
      }
      if (code === null || !codes.includes(code)) {
        throw new GitError(command, place, errors.read(MAX_MESSAGE_LENGTH));
      }
      return Buffer.concat(chunks);
    } finally {
      removeListener();
      group.release();
    }
  }

  /** Runs a git command and returns its output as one line of text. */
  async line(place: GitPlace, args: readonly string[], options?: GitRunOptions): Promise<string> {
    return (await this.run(place, args, options)).toString('utf8').trimEnd();
  }

  /** Runs a git command and returns the parts of its output that NUL separates, as bytes (latin1). */
  async list(
    place: GitPlace,
    args: readonly string[],
    options?: GitRunOptions,
  ): Promise<readonly string[]> {
    const parts = (await this.run(place, args, options)).toString('latin1').split('\0');
    return parts.slice(0, -1);
  }

  /** Finds the ids of objects by their names, such as `HEAD^{tree}`; null for a name that means nothing. */
  async resolve(place: GitPlace, names: readonly string[]): Promise<readonly (string | null)[]> {
    const input = names.map((name) => `${name}\n`).join('');
    const output = await this.line(place, ['cat-file', '--batch-check=%(objectname)'], { input });
    return output.split('\n').map((line) => (/^[0-9a-f]+$/.test(line) ? line : null));
  }

  /**
   * Reads the contents of files, in the order of `files`: as git stores them, or in working form, as a checkout would
   * write them. The path of a file then decides about its line endings. Throws MusterError if an object is missing.
   */
  async readFiles(
    place: GitPlace,
    files: readonly { readonly object: string; readonly path: string }[],
    form: 'stored' | 'working',
  ): Promise<readonly Buffer[]> {
    if (files.length === 0) return [];
    // Git prints the length without the changed line endings, so the ends are found by a text that nobody can know.
    const mark = randomBytes(16).toString('hex');
    const isWorking = form === 'working';
    const input = files
      .map(({ object, path }) => `${object}${isWorking ? ` ${path.replaceAll('\n', '_')}` : ''}\n`)
      .join('');
    const args = [`--batch=${mark}`, ...(isWorking ? ['--filters'] : [])];
    const output = await this.run(place, ['cat-file', ...args], { input });
    const head = Buffer.from(`${mark}\n`);
    const contents: Buffer[] = [];
    for (let at = output.indexOf(head); at >= 0;) {
      const start = at + head.length;
      at = output.indexOf(head, start);
      contents.push(output.subarray(start, (at < 0 ? output.length : at) - 1));
    }
    if (contents.length === files.length) return contents;
    throw new GitError('git cat-file', place, 'objects of the workspace are missing');
  }
}

/** The options for preparing git. */
export interface GitOpenOptions {
  /** The id of the task. */
  readonly id: string;
  /** The variables of the user. */
  readonly environment: Environment;
  readonly signal: AbortSignal;
}

/** Ends the git processes that a killed process has started for a workspace. */
export async function endGitProcesses(id: string): Promise<void> {
  await endMarkedProcesses(MARK_VARIABLE, [id]);
}

/** Converts bytes (latin1) to a path; null if they are not UTF-8. */
export function toPath(bytes: string): string | null {
  const path = Buffer.from(bytes, 'latin1').toString('utf8');
  return Buffer.from(path, 'utf8').toString('latin1') === bytes ? path : null;
}

/** Converts a path to bytes (latin1), as git prints it. */
export function toBytes(path: string): string {
  return Buffer.from(path, 'utf8').toString('latin1');
}

interface Setting {
  readonly name: string;
  readonly value: string;
}

/** Parses the output of `git config -z --get-regexp`: the name, a line feed, the value and a NUL. */
function parseSettings(output: Buffer): readonly Setting[] {
  const entries = output.toString('utf8').split('\0').slice(0, -1);
  return entries.map((entry) => {
    const end = entry.indexOf('\n');
    return end < 0
      ? { name: entry, value: 'true' }
      : { name: entry.slice(0, end), value: entry.slice(end + 1) };
  });
}

function toConfigVariables(pairs: readonly (readonly [string, string])[]): Environment {
  const variables = pairs.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key] as const,
    [`GIT_CONFIG_VALUE_${index}`, value] as const,
  ]);
  return { GIT_CONFIG_COUNT: String(pairs.length), ...Object.fromEntries(variables) };
}

function waitForEnd(stream: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve) => {
    stream.on('error', () => resolve());
    stream.on('close', () => resolve());
    stream.on('end', () => resolve());
  });
}
