/**
 * Builds dist/: the command line program, the library's entries and their types, the built-in agent
 * definitions, the schemas of what is written for programs, and the licences of what is bundled.
 * `--no-types` leaves the types out; `--out DIR` writes to another directory, without the types.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { rolldown, type OutputChunk } from 'rolldown';
import { asciiPlugin } from './ascii.ts';
import { assertNoCircle } from './circles.ts';
import { builtinModulePlugin } from './builtin-modules.ts';
import { plainHeadersPlugin } from './plain-headers.ts';
import { compiledWithFile } from './eager-functions.ts';
import { plainChecksPlugin } from './plain-checks.ts';
import { writeSchemas } from './schemas.ts';
import { profileStart } from './start-profile.ts';

const root = dirname(import.meta.dirname);
const { values: options } = parseArgs({
  options: { 'no-types': { type: 'boolean', default: false }, out: { type: 'string' } },
});
const dist = resolve(root, options.out ?? 'dist');
const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly engines: { readonly node: string };
};
const withTypes = !options['no-types'] && options.out === undefined;

const ENTRIES = {
  muster: 'src/front/cli/bin.ts',
  index: 'src/api/index.ts',
  events: 'src/protocol/events.ts',
  testing: 'src/testing/index.ts',
};

/** The lowest Node that package.json promises: newer syntax, such as `using`, is compiled down to it. */
const LOWEST_NODE = `node${engines.node.replace('>=', '')}`;

/** Not bundled: it finds its binary beside its own files. */
const EXTERNAL = ['@vscode/ripgrep'];

/**
 * Each file that a start loads costs half a millisecond or more, so what a headless run needs lies in
 * few: what comes before the compile cache is on, the run itself, and what the providers share.
 * Groups take along what their modules import statically.
 */
const CHUNKS = [
  { name: 'boot', test: /src\/sys\/env\.ts$/, priority: 3 },
  {
    name: 'core',
    test: /src\/front\/(cli\/(main|commands\/run)|headless\/headless)\.ts$/,
    priority: 2,
  },
  {
    name: 'providers',
    test: /node_modules\/(@ai-sdk\/provider(-utils)?|zod|eventsource-parser)\/|src\/model\/adapters\/(adapter|thinking)\.ts$/,
    priority: 1,
  },
];

async function bundle(): Promise<readonly OutputChunk[]> {
  const build = await rolldown({
    cwd: root,
    input: ENTRIES,
    platform: 'node',
    external: EXTERNAL,
    plugins: [builtinModulePlugin(), plainHeadersPlugin(), plainChecksPlugin(), asciiPlugin()],
    tsconfig: false,
    transform: { target: LOWEST_NODE },
    logLevel: 'warn',
  });
  const { output } = await build.write({
    dir: dist,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: { groups: CHUNKS },
    minify: true,
    sourcemap: false,
  });
  await build.close();
  return output.filter((file) => file.type === 'chunk');
}

/** The folder of the package that a bundled module comes from, if it comes from one. */
function packageDirectory(moduleId: string): string | null {
  const marker = '/node_modules/';
  const at = moduleId.lastIndexOf(marker);
  if (at === -1) return null;
  const [first = '', second = ''] = moduleId.slice(at + marker.length).split('/');
  const name = first.startsWith('@') ? `${first}/${second}` : first;
  return moduleId.slice(0, at + marker.length) + name;
}

function licences(chunks: readonly OutputChunk[]): string {
  const directories = new Set<string>();
  for (const chunk of chunks) {
    for (const id of chunk.moduleIds) {
      const directory = packageDirectory(id);
      if (directory !== null) directories.add(directory);
    }
  }
  return [...directories]
    .toSorted()
    .map(licence)
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function licence(directory: string): string {
  const { name, version, license } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  );
  const file = readdirSync(directory).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
  const text = file === undefined ? '' : readFileSync(join(directory, file), 'utf8');
  return `${name} ${version} (${license})\n\n${text}`;
}

/** The entry itself is read before the compile cache is on. */
async function compileStartWithFiles(): Promise<void> {
  const entry = join(dist, 'muster.js');
  const called = await profileStart(entry);
  assertNoCircle(chunks);
  for (const { fileName } of chunks) {
    const path = join(dist, fileName);
    const functions = called.get(path);
    if (functions === undefined || path === entry) continue;
    writeFileSync(path, compiledWithFile(readFileSync(path, 'utf8'), functions));
  }
}

rmSync(dist, { recursive: true, force: true });
const chunks = await bundle();
writeFileSync(join(dist, 'LICENSES.txt'), licences(chunks));
const builtin = join(root, 'src/agents/builtin');
if (existsSync(builtin)) {
  cpSync(builtin, join(dist, 'builtin'), {
    recursive: true,
    filter: (from) => !from.endsWith('.ts'),
  });
}
writeSchemas(join(dist, 'schemas'));
await compileStartWithFiles();
if (withTypes) {
  execFileSync('tsc', ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
}
