import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

const USER = 1000;
/** The user's Node stands in the home directory, as with all version managers, so that `npm install -g` may write. */
const NODE = 'node';

export interface RootOptions {
  /** The beginning of a command line whose rest runs in the network of the servers. */
  readonly enter: readonly string[];
  /** The program of Node, on this machine. */
  readonly node: string;
  /** An existing directory of this machine for the files of the user. */
  readonly directory: string;
  /** The path of the home directory for the user. */
  readonly home: string;
  /** The files that the servers and their certificates need, by their path for the user. */
  readonly files: Readonly<Record<string, string>>;
  /** Variables that every program gets. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface CommandOptions {
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly stdin?: string;
  /** Default: it can be written. */
  readonly home?: 'read-only';
  /** Whether the user has an entry in the user database. Default: true. */
  readonly isListed?: boolean;
  /** The directory of this machine that is /tmp. Default: a new one. Null: there is none. */
  readonly temporary?: string | null;
  /** Whether /bin/sh exists. Default: false. */
  readonly hasShell?: boolean;
  /** Commands of bash for the process, such as `umask 077`, which run outside. */
  readonly before?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * A root file system with Node, npm, the C library and nothing else, in which an ordinary user without any capability
 * runs commands. `/usr/bin/env` belongs to Node, because the first line of npm and of every installed program names it.
 */
export class UserRoot {
  readonly workspace: string;
  readonly #options: RootOptions;
  readonly #libraries: readonly string[];

  constructor(options: RootOptions) {
    const { directory, home, node } = options;
    this.#options = options;
    const needed = [node, '/usr/bin/env', '/bin/sh'].flatMap(librariesOf);
    this.#libraries = [...new Set([...needed, ...needed.flatMap(restOfCLibrary)])];
    this.workspace = join(home, 'my work');
    mkdirSync(join(directory, 'home', 'my work'), { recursive: true });
    const programs = join(directory, 'home', NODE, 'bin');
    mkdirSync(programs, { recursive: true });
    for (const name of ['npm', 'npx']) {
      symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(programs, name));
    }
    this.write('etc/passwd', `user:x:${USER}:${USER}::${home}:/bin/sh\n`);
    this.write('etc/passwd-of-others', 'root:x:0:0::/root:/bin/sh\n');
  }

  /** Writes a file of the directory on this machine, and returns its path there. */
  write(path: string, content: string): string {
    const full = join(this.#options.directory, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
    return full;
  }

  /** The path of a file below the home directory, on this machine. */
  inHome(path: string): string {
    return join(this.#options.directory, 'home', path);
  }

  async run(args: readonly string[], options: CommandOptions = {}): Promise<Ended> {
    const [program = '', ...rest] = this.commandLine(args, options);
    const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'pipe'] });
    // A program that does not read its input has closed it.
    child.stdin.on('error', () => {});
    child.stdin.end(options.stdin ?? '');
    const closed = once(child, 'close');
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
    await closed;
    return { code: child.exitCode, stdout, stderr };
  }

  /** The command line with which this machine runs a command of the user. */
  commandLine(args: readonly string[], options: CommandOptions = {}): readonly string[] {
    const before = options.before === undefined ? [] : shellFirst(options.before);
    return [...before, ...this.#options.enter, 'bwrap', ...this.#root(options), '--', ...args];
  }

  #root({ environment, home: access, isListed, temporary, hasShell }: CommandOptions): string[] {
    const { directory, files, home, node, environment: usual } = this.#options;
    const shell = hasShell === true ? ['/bin/sh'] : [];
    const system = ['/usr/bin/env', ...shell, ...this.#libraries];
    const passwd = join(directory, 'etc', isListed === false ? 'passwd-of-others' : 'passwd');
    const temporaryDirectory =
      temporary === undefined ? ['--tmpfs', '/tmp'] : ['--bind', temporary ?? '', '/tmp'];
    const bindHome = access === 'read-only' ? '--ro-bind' : '--bind';
    const programs = join(home, NODE, 'bin');
    const variables = { PATH: `${programs}:/usr/bin:/bin`, HOME: home, ...usual, ...environment };
    return [
      ...['user', 'pid', 'ipc', 'uts', 'cgroup-try'].map((space) => `--unshare-${space}`),
      '--uid',
      String(USER),
      '--gid',
      String(USER),
      '--die-with-parent',
      ...system.flatMap((path) => readOnly(realpathSync(path), path)),
      ...readOnly(passwd, '/etc/passwd'),
      ...Object.entries(files).flatMap(([path, source]) => readOnly(source, path)),
      '--proc',
      '/proc',
      '--dev',
      '/dev',
      ...(temporary === null ? [] : temporaryDirectory),
      bindHome,
      join(directory, 'home'),
      home,
      ...readOnly(node, join(programs, 'node')),
      ...readOnly(npmDirectory(), join(home, NODE, 'lib/node_modules/npm')),
      '--remount-ro',
      '/',
      '--chdir',
      this.workspace,
      '--clearenv',
      ...Object.entries(variables).flatMap(([name, value]) =>
        value === null ? [] : ['--setenv', name, value],
      ),
    ];
  }
}

function readOnly(source: string, path: string): string[] {
  return ['--ro-bind', source, path];
}

function shellFirst(commands: string): readonly string[] {
  return ['/bin/bash', '-c', `${commands}; exec "$@"`, 'bash'];
}

/** The shared libraries that a program loads, with the loader. */
function librariesOf(program: string): readonly string[] {
  const listed = execFileSync('ldd', [program], { encoding: 'utf8' });
  return [...listed.matchAll(/(?:=> |^\s*)(\/\S+) \(0x/gm)].map(([, path = '']) => path);
}

/** The other parts of the C library, which are always installed with it. */
function restOfCLibrary(library: string): readonly string[] {
  if (!library.endsWith('/libc.so.6')) return [];
  const names = ['libdl.so.2', 'libpthread.so.0', 'libresolv.so.2', 'librt.so.1', 'libutil.so.1'];
  return names.map((name) => join(dirname(library), name)).filter((path) => existsSync(path));
}

function npmDirectory(): string {
  const program = execFileSync('/bin/sh', ['-c', 'readlink -f "$(command -v npm)"'], {
    encoding: 'utf8',
  });
  return dirname(dirname(program.trimEnd()));
}
