import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startFakeModel,
  toolResultRounds,
  type FakeModelOptions,
} from '../../src/testing/index.ts';
import { readPackageTypes } from '../../scripts/api-reference/read-types.ts';
import { packCheckout, ROOT } from './checkout.ts';

const run = promisify(execFile);
const EXAMPLES = join(ROOT, 'examples/library');

let directory = '';
let tarball = '';
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'muster-users-'));
  tarball = await packCheckout(ROOT, join(directory, 'packed'));
  const modules = join(directory, 'node_modules');
  mkdirSync(join(modules, 'muster-agent'), { recursive: true });
  const unpacked = join(modules, 'muster-agent');
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', unpacked]);
  // The packages that a program would install; nothing of the rest of this checkout can be reached.
  for (const name of ['zod', '@types', 'undici-types', '@vscode', 'ai', '@ai-sdk'])
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  cpSync(EXAMPLES, join(directory, 'examples'), { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{"type":"module","private":true}');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Compiles files as a strict user would. Returns what the compiler says. `skipLibCheck`: does not check types of packages. */
async function compile(
  files: readonly string[],
  module: string,
  resolution: string,
  { skipLibCheck = false }: { readonly skipLibCheck?: boolean } = {},
) {
  const compilerOptions = {
    module,
    moduleResolution: resolution,
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck,
    noEmit: true,
  };
  const config = join(directory, `tsconfig.${module}.json`);
  writeFileSync(config, JSON.stringify({ compilerOptions, files }));
  const tsc = join(ROOT, 'node_modules/.bin/tsc');
  return await run(tsc, ['-p', config], { cwd: directory }).then(
    () => '',
    ({ stdout }: { readonly stdout: string }) => stdout,
  );
}

/** Writes the examples in the doc comments of some entry points as programs. Returns their texts by their files. */
function writeDocExamples(isWanted: (entry: string) => boolean): ReadonlyMap<string, string> {
  const { entries } = readPackageTypes(join(directory, 'node_modules/muster-agent/dist/types'));
  const examples = entries
    .filter(({ name }) => isWanted(name))
    .flatMap(({ exports }) =>
      [...exports.values()].flatMap(({ name, example }) =>
        example === null ? [] : [[`doc-comments/${name}.ts`, example] as const],
      ),
    );
  mkdirSync(join(directory, 'doc-comments'), { recursive: true });
  for (const [file, example] of examples) writeFileSync(join(directory, file), example);
  return new Map(examples);
}

describe('the types of the package', () => {
  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('fit the examples under module %s and resolution %s', async (module, resolution) => {
    const files = readdirSync(EXAMPLES).map((name) => join('examples', name));
    expect(await compile(files, module, resolution)).toBe('');
  });

  it('fit the examples in the doc comments', async () => {
    const examples = writeDocExamples(() => true);
    expect(examples.size).toBeGreaterThan(25);
    // An example without imports would be a script, in which names of other examples are known.
    for (const example of examples.values()) expect(example).toMatch(/^import /m);
    const { own = [], others = [] } = Object.groupBy(examples.keys(), (file) =>
      examples.get(file)?.includes("from 'ai'") === true ? 'others' : 'own',
    );
    expect(await compile(own, 'nodenext', 'nodenext')).toBe('');
    // The types of the AI SDK do not pass the check themselves.
    expect(await compile(others, 'nodenext', 'nodenext', { skipLibCheck: true })).toBe('');
  });

  it('infer the output of a run, the input of a tool, and refuse what is wrong', async () => {
    const text = `
      import { createMuster, defineTool, type JsonSchemaObject } from 'muster-agent';
      import { z } from 'zod';
      const tool = defineTool({
        name: 'x', description: 'X.', input: z.object({ n: z.number().default(1) }),
        access: { writes: ({ n }) => n.toFixed() },
        run: ({ n }) => { const exact: number = n; return String(exact); },
      });
      const muster = await createMuster({ model: 'offline', tools: [tool], config: { task_tool: { max_depth: 3 } } });
      const plain: string = (await muster.run('x')).output;
      const typed: { n: number } | null = (await muster.run('x', { outputSchema: z.object({ n: z.number() }) })).output;
      const json: JsonSchemaObject = { type: 'object' };
      const unknownOutput: unknown = (await muster.run('x', { outputSchema: json })).output;
      for await (const event of muster.run('x', { deltas: true })) {
        if (event.type === 'text_delta') event.text satisfies string;
        if (event.type === 'task.ended') event.result satisfies string;
      }
      // @ts-expect-error -- a text is no number
      const wrong: number = (await muster.run('x')).output;
      // @ts-expect-error -- an unknown option
      await createMuster({ modle: 'offline' });
      // @ts-expect-error -- an unknown key of the configuration
      await createMuster({ model: 'offline', config: { task_tool: { max_depht: 3 } } });
      // @ts-expect-error -- the input has no such field
      defineTool({ name: 'x', description: 'X.', input: z.object({ a: z.string() }), run: ({ n }) => n });
      export { plain, typed, unknownOutput, wrong };
    `;
    writeFileSync(join(directory, 'types.ts'), text);
    expect(await compile(['types.ts'], 'nodenext', 'nodenext')).toBe('');
  });

  it('of events load one file, which contains no code of the core', () => {
    const file = join(directory, 'node_modules/muster-agent/dist/events.js');
    const text = readFileSync(file, 'utf8');
    expect(text).not.toMatch(/\bimport\b\s*[({"']|\bfrom\s*["']/);
    expect(text.length).toBeLessThan(100_000);
  });

  it('resolve for every kind of importer of ES modules', async () => {
    const attw = join(ROOT, 'node_modules/.bin/attw');
    const { stdout } = await run(attw, [tarball, '--profile', 'esm-only', '--format', 'json'], {
      cwd: directory,
      maxBuffer: 1e8,
    });
    expect(JSON.parse(stdout)).toMatchObject({ analysis: { types: { kind: 'included' } } });
  });
});

/** The body of a request as text. */
const bodyOf = ({ body }: { readonly body: unknown }) => JSON.stringify(body);

/** The scripts of the fake model, and the output of each example. */
const EXPECTED: Readonly<Record<string, [FakeModelOptions['script'] & object, RegExp]>> = {
  'parallel-agents.ts': [
    () => ({ text: 'In a.ts.' }),
    /entry point\?\nIn a\.ts\.[^]*break first\?\nIn a\.ts\./,
  ],
  'custom-tool.ts': [
    (request) =>
      toolResultRounds(request) === 0
        ? { toolCalls: [{ name: 'count_stock', input: { article: 'A-1' } }] }
        : { text: bodyOf(request).includes('12 pieces') ? 'There are 12.' : 'Unknown.' },
    /^There are 12\.\n$/,
  ],
  'custom-model.ts': [() => ({ text: '' }), /^You said: [^]*Hello\.\n$/],
  'questions.ts': [
    (request) =>
      toolResultRounds(request) === 0
        ? { toolCalls: [{ name: 'Bash', input: { command: 'echo hello > said.txt' } }] }
        : { text: 'Hello.' },
    /^may main run: echo hello > said\.txt\nHello\. \[/,
  ],
  'structured-output.ts': [
    () => ({ text: '{"findings":[{"file":"a.ts","severity":"high"}]}' }),
    /^high a\.ts\n$/,
  ],
  'steer-and-resume.ts': [
    (request) =>
      toolResultRounds(request) === 0
        ? { toolCalls: [{ name: 'LS', input: { path: '.' } }] }
        : {
            text: bodyOf(request).includes('how many')
              ? 'One.'
              : `md: ${bodyOf(request).includes('Only the Markdown')}`,
          },
    /^md: true\nOne\.\n$/,
  ],
  'store.ts': [
    (request) => ({ text: bodyOf(request).includes('And how many?') ? 'Two.' : 'a.md, b.md' }),
    /^a\.md, b\.md\nTwo\.\n$/,
  ],
  'in-a-test.ts': [() => ({ text: '' }), /^passed\n$/],
};

describe('the examples', () => {
  it('are all run', () => {
    expect(readdirSync(EXAMPLES).toSorted()).toEqual(
      ['http-server.ts', ...Object.keys(EXPECTED)].toSorted(),
    );
  });

  it.each(Object.entries(EXPECTED))('%s does what it says', async (name, [script, expected]) => {
    const model = await startFakeModel({ script });
    const cwd = mkdtempSync(join(directory, 'cwd-'));
    const { stdout, stderr } = await run(process.execPath, [join(directory, 'examples', name)], {
      cwd,
      env: { PATH: process.env['PATH'], HOME: cwd, ...model.env('anthropic') },
      timeout: 15_000,
    });
    await model.close();
    expect({ stdout, stderr }).toEqual({ stdout: expect.stringMatching(expected), stderr: '' });
  });

  it('in the doc comments of muster-agent/testing run', async () => {
    // A cassette needs a provider; docs/testing.md has a complete example of one, which is run.
    const files = [...writeDocExamples((entry) => entry === 'muster-agent/testing').keys()].filter(
      (file) => !file.includes('startCassette'),
    );
    const lines = files.map((file) => `await import(${JSON.stringify(join(directory, file))});`);
    writeFileSync(join(directory, 'run-doc-comments.mjs'), lines.join('\n'));
    const cwd = mkdtempSync(join(directory, 'cwd-'));
    const env = { PATH: process.env['PATH'], HOME: cwd };
    const options = { cwd, env, timeout: 60_000 };
    const { stderr } = await run(process.execPath, ['../run-doc-comments.mjs'], options);
    expect([files.length > 12, stderr]).toEqual([true, '']);
  });

  it('http-server.ts streams events and the result, and stops a run whose browser has gone', async () => {
    const model = await startFakeModel({
      script: (request) =>
        bodyOf(request).includes('Dawdle') ? { text: 'late', delayMs: 60_000 } : { text: 'Hello.' },
    });
    const server = spawn(process.execPath, [join(directory, 'examples/http-server.ts')], {
      env: { PATH: process.env['PATH'], HOME: directory, ...model.env('anthropic') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [printed] = await once(server.stdout, 'data');
    const port = /port: (\d+)/.exec(String(printed))?.[1];
    const text = await (await fetch(`http://127.0.0.1:${port}/?q=Hi`)).text();
    expect(text).toMatch(
      /event: task\.created\n[^]*event: text_delta\n[^]*event: result\ndata: "Hello\."/,
    );
    const gone = new AbortController();
    const waiting = await fetch(`http://127.0.0.1:${port}/?q=Dawdle`, { signal: gone.signal });
    expect(waiting.status).toBe(200);
    gone.abort();
    server.kill('SIGTERM');
    expect(await once(server, 'exit')).toEqual([0, null]);
    await model.close();
  });
});
