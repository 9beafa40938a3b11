import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import {
  startFakeModel,
  toolResultRounds,
  WIRE_PROTOCOLS,
  type AnswerToolCall,
} from '../src/testing/index.ts';

/**
 * The compiled code of the built program, which V8 keeps below the home directory (bin.ts). A
 * test gives each run a new home, and compiling everything again is almost half of the time that a run
 * takes: so the code is compiled once for a build, and linked into each home.
 */
const DIST = resolve(import.meta.dirname, '../dist');
/** Several checkouts may share their packages. */
const CHECKOUT = createHash('sha256').update(DIST).digest('hex').slice(0, 8);
const STORE = resolve(import.meta.dirname, `../node_modules/.cache/muster-compiled-${CHECKOUT}`);
const IN_HOME = '.cache/muster/compiled';

/**
 * Where Node keeps the compiled code of the other scripts that tests start: three quarters of the time of a short one
 * goes into removing its types and compiling it.
 */
const SCRIPTS = resolve(import.meta.dirname, '../node_modules/.cache/muster-compiled-scripts');

/** What the built program has to do without a model. */
const COMMANDS = [['agents', 'list'], ['tasks', 'list'], ['--help']];

/** What a task of it does: with tools that most tests use. */
const CALLS: readonly (readonly AnswerToolCall[])[] = [
  [{ name: 'Task', input: { description: 'd', prompt: 'look', subagent_type: 'Explore' } }],
  [
    { name: 'Read', input: { file_path: 'a.txt' } },
    { name: 'Grep', input: { pattern: 'a' } },
  ],
  [{ name: 'Write', input: { file_path: 'b.txt', content: 'b' } }],
  [{ name: 'Bash', input: { command: 'echo a' } }],
];

/** The name of the variable that tells the workers of vitest where the code is. */
const VARIABLE = 'MUSTER_TEST_COMPILED';

/** Compiles the code of this build, unless that was done before. Vitest calls it before the first test. */
export async function setup(): Promise<void> {
  process.env['NODE_COMPILE_CACHE'] ??= SCRIPTS;
  if (!existsSync(join(DIST, 'muster.js'))) return;
  const hash = createHash('sha256').update(process.version);
  for (const path of globSync('**/*.js', { cwd: DIST }).toSorted()) {
    hash.update(path).update(readFileSync(join(DIST, path)));
  }
  const directory = join(STORE, hash.digest('hex').slice(0, 16));
  if (!existsSync(directory)) await compileInto(directory);
  process.env[VARIABLE] = directory;
}

async function compileInto(directory: string): Promise<void> {
  // Builds of the past are of no use.
  rmSync(STORE, { recursive: true, force: true });
  mkdirSync(STORE, { recursive: true });
  const home = mkdtempSync(join(STORE, 'home-'));
  writeFileSync(join(home, 'a.txt'), 'a\n');
  const env = { PATH: '/usr/bin:/bin', HOME: home, MUSTER_DATA_DIR: join(home, 'data') };
  const run = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    promisify(execFile)(process.execPath, [join(DIST, 'muster.js'), ...args], {
      cwd: home,
      env: { ...env, ...more },
    });
  const model = await startFakeModel({
    script: (request) => {
      const toolCalls = CALLS[toolResultRounds(request)];
      return toolCalls === undefined ? { text: 'done' } : { toolCalls };
    },
  });
  // The first run that loads a file decides what is kept of it, so the richest runs come first.
  for (const protocol of WIRE_PROTOCOLS) {
    const name = protocol === 'responses' ? ['--model', 'openai/gpt-test'] : [];
    await run(['-p', 'go', '--permission-mode', 'autonomous', ...name], model.env(protocol));
  }
  await model.close();
  for (const args of COMMANDS) await run(args);
  renameSync(join(home, IN_HOME), directory);
  rmSync(home, { recursive: true });
}

/** Links the compiled code into a home directory. Node replaces such files, and never writes into them. */
export function linkCompiledCode(home: string): void {
  const directory = process.env[VARIABLE];
  if (directory === undefined) return;
  const target = join(home, IN_HOME);
  mkdirSync(target, { recursive: true, mode: 0o700 });
  for (const path of globSync('*/*', { cwd: directory })) {
    mkdirSync(dirname(join(target, path)), { recursive: true, mode: 0o700 });
    linkSync(join(directory, path), join(target, path));
  }
}
