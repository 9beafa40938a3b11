/**
 * Builds the page of `muster web` into `dist/web/`: one HTML file, one script and one style sheet, whose names contain
 * a hash of their content. The script is a classic one, so that an exported page works from a file as well.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Rolldown } from 'vite';
import { inAscii } from './ascii.ts';
import { dist, root } from './bundle.ts';

const PAGE = join(root, 'src/front/web/page');

/** The oldest browsers that the page is built for. */
const BROWSERS = ['chrome123', 'firefox121', 'safari17.5'];

/** Names of Node that the page must not use, because a browser does not have them. */
const OF_NODE = /\bBuffer\.|\bprocess\.|["']node:/;

/** The files of the page, and the modules that they contain. */
export interface BuiltPage {
  /** The absolute paths of all bundled modules. */
  readonly moduleIds: readonly string[];
  /** The bytes of the script and of the style sheet. */
  readonly bytes: { readonly script: number; readonly style: number };
}

/** Builds the page. Throws Error if a bundled module needs Node. */
export async function buildPage(): Promise<BuiltPage> {
  const built = await build({
    root: PAGE,
    configFile: false,
    envDir: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    define: { 'process.env.NODE_ENV': '"production"' },
    build: {
      write: false,
      target: BROWSERS,
      cssTarget: BROWSERS,
      modulePreload: false,
      // Otherwise the script of a classic page would insert the style sheet as inline code.
      cssCodeSplit: false,
      rolldownOptions: {
        input: join(PAGE, 'main.tsx'),
        output: { format: 'iife', entryFileNames: 'page.js', assetFileNames: 'page[extname]' },
      },
    },
  });
  const { script, style, moduleIds } = readOutput(built);
  const names = {
    script: hashedName('page', script, 'js'),
    style: hashedName('page', style, 'css'),
  };
  const directory = join(dist, 'web');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, names.script), script);
  writeFileSync(join(directory, names.style), style);
  writeFileSync(join(directory, 'index.html'), formatDocument(names));
  return {
    moduleIds,
    bytes: { script: Buffer.byteLength(script), style: Buffer.byteLength(style) },
  };
}

function readOutput(built: Awaited<ReturnType<typeof build>>) {
  if (Array.isArray(built) || !('output' in built)) throw new Error('the page has one bundle');
  const chunks = built.output.filter((file): file is Rolldown.OutputChunk => file.type === 'chunk');
  const [chunk] = chunks;
  const style = built.output.find((file) => file.type === 'asset' && file.fileName === 'page.css');
  if (chunk === undefined || chunks.length > 1 || style?.type !== 'asset') {
    throw new Error(`the page is one script and one style sheet, not ${built.output.length} files`);
  }
  const ofNode = OF_NODE.exec(chunk.code);
  if (ofNode !== null) {
    const around = chunk.code.slice(Math.max(0, ofNode.index - 60), ofNode.index + 60);
    throw new Error(`the page contains code that needs Node: …${around}…`);
  }
  return {
    script: inAscii(chunk.code),
    style: String(style.source),
    moduleIds: chunk.moduleIds.map((id) => id.replace(/\?.*$/, '')),
  };
}

function hashedName(name: string, content: string, extension: string): string {
  return `${name}-${createHash('sha256').update(content).digest('hex').slice(0, 10)}.${extension}`;
}

function formatDocument(names: { readonly script: string; readonly style: string }): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>Muster</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="./${names.style}">
<script defer src="./${names.script}"></script>
</head>
<body>
<div id="page"></div>
<noscript>This page needs JavaScript, which it loads only from here.</noscript>
</body>
</html>
`;
}
