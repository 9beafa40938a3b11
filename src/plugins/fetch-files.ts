import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorMessage, MusterError, systemErrorCode } from '../base/errors.ts';
import type { Environment } from '../sys/env.ts';
import { fetchCommit } from '../sys/git/fetch-commit.ts';
import { buildNetworkEnvironment } from '../sys/processes/command-environment.ts';
import { findTrustedProgram } from '../sys/processes/find-program.ts';
import { runProgramToEnd } from '../sys/processes/run-program-to-end.ts';
import { escapeLine } from '../config/message-text.ts';
import { PLUGIN_LIMITS, PluginFileCollector, type PluginFile } from './plugin-files.ts';
import { describePluginSource, type PluginSource } from './plugin-source.ts';
import { collectDirectory } from './read-directory.ts';
import { readTar, unzipArchive } from './read-tar.ts';

/** The files that a source has now. */
export interface FetchedFiles {
  readonly files: readonly PluginFile[];
  /** The paths of links, which are left out. */
  readonly leftOut: readonly string[];
  /** The commit of the files. Null if they do not come from a repository. */
  readonly commit: string | null;
}

export interface FetchFilesOptions {
  readonly environment: Environment;
  /** The directory of the project, whose programs are not run. Absolute. */
  readonly project: string;
  readonly signal: AbortSignal;
}

const NPM_TIMEOUT_MS = 180_000;
const MAX_NPM_OUTPUT = 4 * 1024 * 1024;
/** Variables of the user with which npm reaches registries as usual. */
const NPM_VARIABLES = [
  'HOME',
  'PATH',
  'TMPDIR',
  'USER',
  'XDG_CONFIG_HOME',
  'NPM_CONFIG_USERCONFIG',
];

/**
 * Reads the files of a plugin or a marketplace from its source. No program of the source runs. Throws MusterError if that
 * fails, or if the files cannot be those of a plugin.
 */
export async function fetchFiles(
  source: PluginSource,
  options: FetchFilesOptions,
): Promise<FetchedFiles> {
  const files = new PluginFileCollector(describePluginSource(source));
  const finish = (commit: string | null): FetchedFiles => ({
    files: files.list(),
    leftOut: files.leftOut.toSorted(),
    commit,
  });
  switch (source.kind) {
    case 'directory':
      readLocalDirectory(source.path, files);
      return finish(null);
    case 'archive':
      await readArchive(source.path, files);
      return finish(null);
    case 'git':
      return await withScratch(async (scratch) => {
        const { environment, project, signal } = options;
        const place = { scratch, environment, untrusted: [project], signal };
        return finish(await fetchCommit(source, files, place));
      });
    case 'npm':
      return await withScratch(async (scratch) => {
        await readArchive(await fetchPackage(source, scratch, options), files);
        return finish(null);
      });
  }
}

function readLocalDirectory(path: string, files: PluginFileCollector): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) return collectDirectory(path, files);
  throw new MusterError('NOT_FOUND', `there is no directory ${escapeLine(path)}`);
}

async function readArchive(path: string, files: PluginFileCollector): Promise<void> {
  const { size } = statSync(path);
  if (size > PLUGIN_LIMITS.totalBytes) {
    throw files.refuse(`it is larger than ${PLUGIN_LIMITS.totalBytes / 1024 / 1024} MB`);
  }
  readTar(await unzipArchive(readFileSync(path), files), files);
}

/** Lets the user's npm download a package without running its scripts. Returns the path of the archive. */
async function fetchPackage(
  source: Extract<PluginSource, { readonly kind: 'npm' }>,
  scratch: string,
  { environment, project, signal }: FetchFilesOptions,
): Promise<string> {
  const npm = findTrustedProgram('npm', environment['PATH'] ?? '', [project]);
  if (npm === undefined)
    throw new MusterError('NOT_FOUND', 'npm is not installed: install it first');
  const { name, version, registry } = source;
  const kept = NPM_VARIABLES.flatMap((variable) => {
    const value = environment[variable];
    return value === undefined ? [] : [[variable, value] as const];
  });
  const ofRegistry = registry === null ? [] : ['--registry', registry];
  const spec = `${name}@${version ?? 'latest'}`;
  const args = [
    'pack',
    '--ignore-scripts',
    '--silent',
    '--pack-destination',
    scratch,
    ...ofRegistry,
  ];
  const { failure } = await runProgramToEnd(npm, [...args, '--', spec], {
    // An empty directory has no settings of npm.
    cwd: scratch,
    env: { ...Object.fromEntries(kept), ...buildNetworkEnvironment(environment, true) },
    timeoutMs: NPM_TIMEOUT_MS,
    maxBytes: MAX_NPM_OUTPUT,
    signal,
  });
  const archive = failure === null ? readdirSync(scratch).find(isArchiveName) : undefined;
  if (archive !== undefined) return join(scratch, archive);
  throw new MusterError(
    'PROVIDER_ERROR',
    `npm could not download ${describePluginSource(source)}: ${failure ?? 'it has written no archive'}`,
  );
}

/** Tells whether a file may be an archive that `npm pack` has written. */
export function isArchiveName(name: string): boolean {
  return /\.(?:tgz|tar\.gz)$/i.test(name);
}

async function withScratch<T>(work: (scratch: string) => Promise<T>): Promise<T> {
  const scratch = mkdtempSync(join(tmpdir(), 'muster-plugin-'));
  try {
    return await work(scratch);
  } catch (thrown) {
    if (thrown instanceof MusterError || systemErrorCode(thrown) === undefined) throw thrown;
    throw new MusterError(
      'INTERNAL_ERROR',
      `the files could not be fetched: ${errorMessage(thrown)}`,
    );
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
