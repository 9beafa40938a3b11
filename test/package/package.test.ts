import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeModel, type FakeModelOptions } from '../../src/testing/index.ts';
import { TmuxTerminal } from '../e2e/tmux.ts';
import { needs } from '../needs.ts';
import { BIN, Sandbox } from '../e2e/muster.ts';
import { buildCopy, filesIn, packCheckout, ROOT } from './checkout.ts';
import { NODE_VERSIONS, nodeProgram, npm, OLD_NODE_VERSION } from './nodes.ts';

const HAS_TMUX = needs('tmux', 'tmux');
const OLD_NODE = await nodeProgram(OLD_NODE_VERSION);
const NODES: { version: string; node: string | null }[] = [];
for (const nodeVersion of NODE_VERSIONS) {
  NODES.push({ version: nodeVersion, node: await nodeProgram(nodeVersion) });
}
const { version, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};

async function disposable(options: FakeModelOptions = {}) {
  const model = await startFakeModel(options);
  return { ...model, [Symbol.asyncDispose]: () => model.close() };
}

let packed = '';
/** The tarball of this checkout. */
let ours = '';
beforeAll(async () => {
  packed = mkdtempSync(join(tmpdir(), 'muster-packed-'));
  ours = await packCheckout(ROOT, join(packed, 'ours'));
});
afterAll(() => rmSync(packed, { recursive: true, force: true }));

it('a build in another directory gives the same bytes', async () => {
  const other = join(packed, 'a copy', 'of the checkout');
  await buildCopy(other, ['--no-types']);
  const first = Object.entries(filesIn(join(ROOT, 'dist')));
  expect(first.length).toBeGreaterThan(10);
  // test/install builds the types, too, which takes most of the time of a build.
  const expected = first.filter(([name]) => !name.startsWith('types/'));
  expect(filesIn(join(other, 'dist'))).toEqual(Object.fromEntries(expected));
});

it('the lowest Node is the one that package.json promises', () => {
  expect(NODE_VERSIONS[0].startsWith(`${engines.node.replace('>=', '')}.`)).toBe(true);
});

describe('on a Node that is too old', () => {
  it.runIf(OLD_NODE !== null)('it says in one line which Node it needs', () => {
    const { status, stdout, stderr } = spawnSync(OLD_NODE ?? '', [BIN, '--version'], {
      encoding: 'utf8',
    });
    expect({ status, stdout, stderr }).toEqual({
      status: 2,
      stdout: '',
      stderr: `muster needs Node 22.19 or newer; this is ${OLD_NODE_VERSION} (${OLD_NODE}).\n`,
    });
  });
});

describe.each(NODES)('installed under Node $version', ({ version: nodeVersion, node }) => {
  const sandbox = new Sandbox({ 'notes.txt': 'Hello.\n' });
  const prefix = join(sandbox.root, 'prefix');
  const program = join(prefix, 'node_modules/muster-agent/dist/muster.js');
  const run = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const options = { cwd: sandbox.workspace, env: sandbox.environment(env) };
    const running = promisify(execFile)(node ?? '', args, options);
    // It would wait for more of the prompt.
    running.child.stdin?.end();
    const { stdout, stderr } = await running;
    // A warning of Node's, of something deprecated for example, would stand here.
    expect(stderr).toBe('');
    return stdout;
  };

  beforeAll(async () => {
    if (node === null) return;
    mkdirSync(prefix);
    writeFileSync(join(prefix, 'package.json'), '{"private":true}');
    const options = ['--prefer-offline', '--no-audit', '--no-fund', '--silent'];
    await npm(['install', ours, ...options], prefix, node);
  }, 300_000);
  afterAll(() => sandbox[Symbol.dispose]());

  it.runIf(node !== null)('it runs on that Node and says its version', async () => {
    expect(await run(['--version'])).toBe(`v${nodeVersion}\n`);
    expect(await run([program, '--version'])).toBe(`${version}\n`);
  });

  it.runIf(node !== null)('it delegates and answers', async () => {
    const task = { description: 'read', prompt: 'Read notes.txt.', subagent_type: 'Explore' };
    await using model = await disposable({
      script: [
        {
          when: { promptIncludes: task.prompt, toolResults: 0 },
          answer: { toolCalls: [{ name: 'Read', input: { file_path: 'notes.txt' } }] },
        },
        { when: { promptIncludes: task.prompt }, answer: { text: 'It says hello.' } },
        { when: { toolResults: 0 }, answer: { toolCalls: [{ name: 'Task', input: task }] } },
        { answer: { text: 'The notes say hello.' } },
      ],
    });
    expect(await run([program, '-p', 'What do the notes say?'], model.env('anthropic'))).toBe(
      'The notes say hello.\n',
    );
  });

  it.runIf(node !== null)('the worker that converts pages runs', async () => {
    const file = join(prefix, 'convert.mjs');
    const worker = join(prefix, 'node_modules/muster-agent/dist/page-converter.js');
    const code = [
      "import { Worker } from 'node:worker_threads';",
      `const worker = new Worker(${JSON.stringify(worker)}, { env: {}, execArgv: [] });`,
      "worker.on('message', ({ page }) => { console.log(page.kind, page.text); worker.terminate(); });",
      "worker.postMessage({ bytes: Buffer.from('<h1>Title</h1>'), contentType: 'text/html', url: 'https://e.org/' });",
    ].join('\n');
    writeFileSync(file, code);
    expect(await run([file])).toBe('html # Title\n');
  });

  it.runIf(node !== null)('all three entries can be imported', async () => {
    const code = [
      "const [api, events, testing] = await Promise.all(['', '/events', '/testing'].map((entry) => import('muster-agent' + entry)));",
      'console.log(typeof api.createMuster, Object.keys(events).length > 0, typeof testing.startFakeModel);',
    ].join('\n');
    const file = join(prefix, 'imports.mjs');
    writeFileSync(file, code);
    expect(await run([file])).toBe('function true function\n');
  });

  it.runIf(node !== null && HAS_TMUX)('the terminal UI shows its first screen', async () => {
    await using model = await disposable();
    using terminal = new TmuxTerminal(sandbox, [], {
      env: model.env('anthropic'),
      program: [node ?? '', program],
    });
    expect(await terminal.sees('/help')).toContain('anthropic/');
    terminal.press('C-d', 'C-d');
    await terminal.sees('exit 0');
  });
});
