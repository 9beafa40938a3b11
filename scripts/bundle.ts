import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rolldown, type CodeSplittingGroup, type OutputChunk } from 'rolldown';
import { builtinModulePlugin } from './builtin-modules.ts';
import type { DescribedProject } from './bundled-packages.ts';
import { globalFetchPlugin } from './global-fetch.ts';
import { lateEmojiPatternPlugin } from './late-emoji-pattern.ts';
import { separateEntriesPlugin } from './separate-entries.ts';
import { unusedFramesPlugin, unusedStreamsPlugin } from './unused-streams.ts';

/** The root directory of the project. */
export const root = dirname(import.meta.dirname);
/** The directory that a build writes. */
export const dist = join(root, 'dist');
/** The fields of package.json that a build needs. */
export const manifest = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
) as DescribedProject & {
  readonly engines: { readonly node: string };
};

const ENTRIES = {
  muster: 'src/front/cli/bin.ts',
  index: 'src/library.ts',
  'ai-sdk': 'src/ai-sdk.ts',
  testing: 'src/testing/index.ts',
};

/**
 * The program of the worker that src/web/convert/convert-page.ts starts. It shares no file with the rest, so that the
 * worker loads nothing but what it runs.
 */
const WORKER_ENTRIES = { 'page-converter': 'src/web/convert/worker.ts' };

/** The types of events and their fold, for readers of logs, which load nothing else of Muster. */
const READER_ENTRIES = { events: 'src/events.ts' };

/** The program of the process of an isolated task, which shares no file with the rest for the same reason. */
const PROCESS_ENTRIES = { 'task-process': 'src/engine/process/main.ts' };

/**
 * The libraries with which credentials of clouds are found. They mix two kinds of modules, and bundled with the program
 * they would wrap what all files share in functions.
 */
const LIBRARY_ENTRIES = {
  'aws-library': 'src/keys/clouds/aws-library.ts',
  'google-library': 'src/keys/clouds/google-library.ts',
};

/** The lowest Node that package.json promises: newer syntax, such as `using`, is compiled down to it. */
const LOWEST_NODE = `node${manifest.engines.node.replace('>=', '')}`;

/** Not bundled: they find their binaries beside their own files. */
const EXTERNAL = ['@vscode/ripgrep', '@napi-rs/keyring'];

/**
 * Each file that a start loads costs half a millisecond or more, so a headless run needs few: the code before
 * the compile cache is on, the command line, the run itself, and what the providers share. The light part of all
 * other commands is one file. Groups take along what their modules import statically.
 */
const CHUNKS: CodeSplittingGroup[] = [
  { name: 'boot', test: /src\/(sys\/env|base\/version)\.ts$/, priority: 5 },
  {
    name: 'cli',
    // Modules that commands share with a run are here, so that the help does not load the run
    // (test/e2e/start-files.test.ts).
    test: new RegExp(
      [
        String.raw`src/front/cli/(main|stdin|new-file)\.ts$`,
        String.raw`src/base/(clock|control-tags|drop-missing|ids|json|jsonl|local-time|title)\.ts$`,
        String.raw`src/protocol/(agent|board|hook|hook-text|outside-text|stream-line|state/(ledger|overlaps|steady-time|workspace-view))\.ts$`,
        // Node's own module, which otherwise would be in one of the chunks that use it.
        String.raw`builtin:os$`,
        String.raw`src/(sys/(files/file-errors|processes/core-dumps)|report/(board-lines|cost-text)|agents/example-agents)\.ts$`,
      ].join('|'),
    ),
    priority: 4,
  },
  // The commands about stored tasks need a fifth of the run: the store, and the fold of events.
  { name: 'tasks', test: /src\/api\/stored-tasks\.ts$/, priority: 3.5 },
  {
    name: 'core',
    test: /src\/(api\/open-session|front\/(cli\/run-prompt|headless\/headless))\.ts$/,
    priority: 3,
  },
  { name: 'commands', test: /src\/front\/cli\/commands\.ts$/, priority: 2 },
  {
    name: 'providers',
    // The package for Bedrock has copies of its own, which only its models need.
    test: /^(?!.*amazon-bedrock).*node_modules\/(@ai-sdk\/provider(-utils)?|zod)\/|src\/model\/adapters\/(adapter|request\/thinking-budget)\.ts$/,
    priority: 1,
  },
];

/** Bundles the entries. Writes nothing; the output says which modules each chunk contains. */
export async function bundle(): Promise<readonly OutputChunk[]> {
  const program = await bundleEntries(ENTRIES, CHUNKS);
  const apart = [READER_ENTRIES, WORKER_ENTRIES, PROCESS_ENTRIES, LIBRARY_ENTRIES];
  const others = apart.map((entries) => bundleEntries(entries, []));
  return [...program, ...(await Promise.all(others)).flat()];
}

async function bundleEntries(
  input: Readonly<Record<string, string>>,
  groups: CodeSplittingGroup[],
): Promise<readonly OutputChunk[]> {
  const build = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    external: EXTERNAL,
    plugins: [
      builtinModulePlugin(),
      globalFetchPlugin(),
      lateEmojiPatternPlugin(),
      separateEntriesPlugin(LIBRARY_ENTRIES),
      unusedStreamsPlugin(),
      unusedFramesPlugin(),
    ],
    tsconfig: false,
    transform: {
      target: LOWEST_NODE,
      inject: {
        // The global `Headers` loads everything behind Node's `fetch`, which costs 30 ms of each start
        // (docs/decisions/0004).
        Headers: [join(root, 'src/sys/http/header-map.ts'), 'HeaderMap'],
        'Intl.Segmenter': [join(root, 'src/base/grapheme-segmenter.ts'), 'GraphemeSegmenter'],
      },
    },
    logLevel: 'warn',
  });
  const { output } = await build.generate({
    dir: dist,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: { groups },
    minify: true,
    sourcemap: 'hidden',
  });
  await build.close();
  return output.filter((file) => file.type === 'chunk');
}
