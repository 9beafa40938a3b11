/**
 * Builds dist/: the command line program, the library's entries and their types, the built-in agent
 * definitions, the schemas of what is written for programs, and the licences of what is bundled.
 * `--no-types` leaves the types out.
 * `--measure-start` first records anew which functions a start calls (scripts/start-functions.txt).
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { rolldown, type OutputChunk } from 'rolldown';
import { inAscii } from './ascii.ts';
import { assertNoCircle } from './circles.ts';
import { builtinModulePlugin } from './builtin-modules.ts';
import { compiledWithFile } from './eager-functions.ts';
import { unusedStreamsPlugin } from './unused-streams.ts';
import { writeSchemas } from './schemas.ts';
import { namedFunctions, originsIn, type NamedFunction } from './function-names.ts';
import { modulePath } from './module-path.ts';
import { profileStart } from './start-profile.ts';

const root = dirname(import.meta.dirname);
const { values: options } = parseArgs({
  options: {
    'no-types': { type: 'boolean', default: false },
    'measure-start': { type: 'boolean', default: false },
  },
});
const dist = join(root, 'dist');
const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly engines: { readonly node: string };
};

const ENTRIES = {
  muster: 'src/front/cli/bin.ts',
  index: 'src/library.ts',
  events: 'src/events.ts',
  testing: 'src/testing/index.ts',
};

/** The lowest Node that package.json promises: newer syntax, such as `using`, is compiled down to it. */
const LOWEST_NODE = `node${engines.node.replace('>=', '')}`;

/** Not bundled: it finds its binary beside its own files. */
const EXTERNAL = ['@vscode/ripgrep'];

/**
 * Each file that a start loads costs half a millisecond or more, so a headless run needs few: the code before
 * the compile cache is on, the command line, the run itself, and what the providers share. The light part of all
 * other commands is one file. Groups take along what their modules import statically.
 */
const CHUNKS = [
  { name: 'boot', test: /src\/sys\/env\.ts$/, priority: 5 },
  {
    name: 'cli',
    // Modules that commands share with a run are here, so that the help does not load the run
    // (test/e2e/start-files.test.ts).
    test: new RegExp(
      [
        String.raw`src/front/cli/(main|stdin|new-file)\.ts$`,
        String.raw`src/base/(clock|control-tags|drop-missing|ids|local-time)\.ts$`,
        String.raw`src/protocol/(agent|outside-text|stream-line|state/(ledger|steady-time))\.ts$`,
        String.raw`src/(sys/files/file-errors|report/cost-text|agents/example-agents)\.ts$`,
      ].join('|'),
    ),
    priority: 4,
  },
  {
    name: 'core',
    test: /src\/(api\/muster|front\/(cli\/run-prompt|headless\/headless))\.ts$/,
    priority: 3,
  },
  { name: 'commands', test: /src\/front\/cli\/commands\.ts$/, priority: 2 },
  {
    name: 'providers',
    test: /node_modules\/(@ai-sdk\/provider(-utils)?|zod)\/|src\/model\/adapters\/(adapter|request\/thinking-budget)\.ts$/,
    priority: 1,
  },
];

async function bundle(): Promise<readonly OutputChunk[]> {
  const build = await rolldown({
    cwd: root,
    input: ENTRIES,
    platform: 'node',
    external: EXTERNAL,
    plugins: [builtinModulePlugin(), unusedStreamsPlugin()],
    tsconfig: false,
    transform: {
      target: LOWEST_NODE,
      // The global `Headers` loads everything behind Node's `fetch`, which costs 30 ms of each start
      // (docs/decisions/0004).
      inject: { Headers: [join(root, 'src/sys/http/header-map.ts'), 'HeaderMap'] },
    },
    logLevel: 'warn',
  });
  const { output } = await build.generate({
    dir: dist,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: { groups: CHUNKS },
    minify: true,
    sourcemap: 'hidden',
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

/** The entry itself is read before the compile cache is on: it stays as it is. */
const isEntry = ({ fileName }: OutputChunk): boolean => fileName === 'muster.js';

/**
 * The functions that a start called when it was last measured, by their names. They are kept in a file:
 * measured at each build, they would depend on the machine and its load, and so would the bytes of the build.
 */
const START_FUNCTIONS = join(root, 'scripts/start-functions.txt');

/** With fewer of them left, the build says that they should be measured again. */
const STILL_MEASURED = 0.9;

function functionsOf({ code, map }: OutputChunk): readonly NamedFunction[] {
  return map === null
    ? []
    : namedFunctions(code, originsIn(code, { ...map, sourceRoot: '' }, { root, directory: dist }));
}

async function measureStart(): Promise<void> {
  for (const { fileName, code } of chunks) writeFileSync(join(dist, fileName), code);
  const called = await profileStart(join(dist, 'muster.js'));
  const names = chunks
    .filter((chunk) => !isEntry(chunk))
    .flatMap((chunk) => {
      const spans = called.get(join(dist, chunk.fileName));
      if (spans === undefined) return [];
      return functionsOf(chunk).filter(({ start, end }) => spans.has(`${start}:${end}`));
    })
    .map(({ name }) => name);
  writeFileSync(START_FUNCTIONS, `${names.toSorted().join('\n')}\n`);
}

function writeChunks(): void {
  assertNoCircle(chunks);
  const names = new Set(readFileSync(START_FUNCTIONS, 'utf8').trimEnd().split('\n'));
  const modules = new Set([...names].map((name) => name.slice(0, name.indexOf(' '))));
  let found = 0;
  for (const chunk of chunks) {
    const { fileName, code, moduleIds } = chunk;
    const isStarted = moduleIds.some((id) => modules.has(modulePath(root, id)));
    const functions = isStarted && !isEntry(chunk) ? functionsOf(chunk) : [];
    const called = functions.filter(({ name }) => names.has(name));
    found += called.length;
    const spans = new Set(called.map(({ start, end }) => `${start}:${end}`));
    writeFileSync(join(dist, fileName), inAscii(compiledWithFile(code, spans)));
  }
  if (found < names.size * STILL_MEASURED) {
    console.log(
      `${names.size - found} of the ${names.size} functions in scripts/start-functions.txt are gone.`,
    );
    console.log(
      'Starts are a little slower until `npm run build -- --measure-start` records them anew.',
    );
  }
}

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
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
if (options['measure-start']) await measureStart();
writeChunks();
if (!options['no-types']) {
  execFileSync('tsc', ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
}
