import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { describe, expect, test } from 'vitest';
import { namedFunctions, originsIn } from '../../scripts/function-names.ts';
import { modulePath } from '../../scripts/module-path.ts';

/** Names of code that is its own source: each identifier has the name that stands there. */
function namesOf(code: string): readonly string[] {
  return namedFunctions(code, (offset) => ({
    module: 'm.ts',
    name: /^[\w$]+/.exec(code.slice(offset))?.[0],
  })).map(({ name }) => name);
}

describe('the names of functions', () => {
  test.each([
    ['a declared one', 'function f(){}', ['m.ts f']],
    [
      'one declared in another is not compiled with the file',
      'function f(){function g(){}}',
      ['m.ts f'],
    ],
    [
      'an arrow function inside a function',
      'function f(){function g(){return ()=>1}}',
      ['m.ts f', 'm.ts f/g/1'],
    ],
    ['an arrow in a variable', 'const f=()=>1,g=async()=>2;', ['m.ts f', 'm.ts g']],
    ['an arrow as a property', 'call({run:()=>1,stop:()=>2})', ['m.ts run', 'm.ts stop']],
    ['arrows without a name', 'call(()=>1);call(()=>()=>2)', ['m.ts 1', 'm.ts 2', 'm.ts 2/1']],
    ['the same name twice', 'call({run:()=>1});call({run:()=>2})', ['m.ts run', 'm.ts run~2']],
    [
      'methods name the functions in them',
      'class A{#x=()=>1;run(){return ()=>2}}',
      ['m.ts #x', 'm.ts run/1'],
    ],
    ['a computed key is not a name', 'call({["a"+b]:()=>1})', ['m.ts 1']],
  ])('%s', (_, code, names) => {
    expect(namesOf(code)).toEqual(names);
  });

  test('code that comes from no source has no names', () => {
    expect(namedFunctions('let f=()=>1', () => ({ module: '', name: undefined }))).toEqual([]);
  });
});

describe('the names of functions in a minified bundle', () => {
  const root = '/a/checkout';
  const directory = join(root, 'dist');
  const bundled = async (sources: Readonly<Record<string, string>>) => {
    const build = await rolldown({
      cwd: root,
      input: join(root, 'main.js'),
      plugins: [
        {
          name: 'sources',
          resolveId: (id, importer) => (importer === undefined ? id : join(root, id)),
          load: (id) => sources[modulePath(root, id)] ?? null,
        },
      ],
    });
    const { output } = await build.generate({ dir: directory, minify: true, sourcemap: 'hidden' });
    await build.close();
    const [{ code, map }] = output;
    if (map === null) throw new Error('the bundle has no source map');
    const originOf = originsIn(code, { ...map, sourceRoot: '' }, { root, directory });
    return namedFunctions(code, originOf).map(({ start, end, name }) => ({
      name,
      text: code.slice(start, end),
    }));
  };

  const MAIN = "import { load } from './src/load.js'; console.log(load, load);";
  const LOAD =
    'const text = `\n\n`; export function load(first, second) { return first.map((each) => `${each}${text}${second}`); }';

  test('are those of the source', async () => {
    const functions = await bundled({ 'main.js': MAIN, 'src/load.js': LOAD });
    expect(functions.map(({ name }) => name)).toEqual(['src/load.js load', 'src/load.js load/1']);
    expect(functions[0]?.text).toMatch(/^function \w+\(/);
    expect(functions[0]?.text).not.toContain('load');
    expect(functions[1]?.text).toContain('=>');
  });

  test('stay when other code is added', async () => {
    const more = `export function other() { return 'another one'; }\n${LOAD}`;
    const main = `import { other } from './src/load.js'; console.log(other(), other);\n${MAIN}`;
    const functions = await bundled({ 'main.js': main, 'src/load.js': more });
    const names = functions.map(({ name }) => name);
    expect(names).toContain('src/load.js load');
    expect(names).toContain('src/load.js load/1');
  });
});

test.each([
  ['/a/checkout/src/x.ts', 'src/x.ts'],
  ['/a/checkout/node_modules/zod/index.js', 'node_modules/zod/index.js'],
  ['/elsewhere/node_modules/zod/index.js', 'node_modules/zod/index.js'],
  ['/a/node_modules/p/node_modules/zod/index.js', 'node_modules/zod/index.js'],
])('the path of %s in each checkout is %s', (file, path) => {
  expect(modulePath('/a/checkout', file)).toBe(path);
});
