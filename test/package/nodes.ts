import { execFile } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The lowest Node that package.json promises, and the newest one that the tests were last run with. */
export const NODE_VERSIONS = ['22.19.0', '26.10.0'] as const;

/** A Node that is too old for the syntax and the modules of most of the program. */
export const OLD_NODE_VERSION = '20.19.5';

/** Kept between runs and outside of any checkout. */
const CACHE = join(
  process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'),
  'muster-test',
  'nodes',
);

/** The npm package that carries Node for this machine. */
function packageOf(version: string): string {
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  return `node-${platform}-${process.arch}@${version}`;
}

/**
 * The program of that version of Node, fetched from the registry that npm is configured with unless it was
 * fetched before. Null: it cannot be fetched, which is listed at the end of `npm test`.
 */
export async function nodeProgram(version: string): Promise<string | null> {
  const directory = join(CACHE, packageOf(version));
  const program = join(directory, 'package/bin/node');
  if (existsSync(program)) return program;
  mkdirSync(CACHE, { recursive: true });
  const fetched = mkdtempSync(join(CACHE, 'fetching-'));
  try {
    const pack = ['pack', packageOf(version), '--prefer-offline', '--silent'];
    const archive = (await npm(pack, fetched)).trim();
    await run('tar', ['xzf', archive], { cwd: fetched });
    rmSync(join(fetched, archive));
    renameSync(fetched, directory);
    return program;
  } catch (error) {
    // Another test run may have put it there meanwhile, and a directory that is not empty is not replaced.
    if (existsSync(program)) return program;
    const list = process.env['MUSTER_TEST_NOT_RUN'];
    const reason = `Node ${version} (npm package ${packageOf(version)}: ${String(error).split('\n')[0]})`;
    if (list !== undefined) appendFileSync(list, `${reason}\n`);
    return null;
  } finally {
    rmSync(fetched, { recursive: true, force: true });
  }
}

/** Runs npm and returns what it prints. `node`: the program that it runs on; default: the one on the path. */
export async function npm(args: readonly string[], cwd: string, node?: string): Promise<string> {
  const [program, ...first] = node === undefined ? ['npm'] : [node, await npmProgram()];
  return (await run(program, [...first, ...args], { cwd })).stdout;
}

async function npmProgram(): Promise<string> {
  return (await run('sh', ['-c', 'readlink -f "$(command -v npm)"'])).stdout.trimEnd();
}
