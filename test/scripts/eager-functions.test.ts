import { describe, expect, test } from 'vitest';
import { assertNoCircle } from '../../scripts/circles.ts';
import { compiledWithFile } from '../../scripts/eager-functions.ts';

/** As a run would tell of these functions, each a piece of the code that stands in it once. */
function called(code: string, ...functions: readonly string[]): ReadonlySet<string> {
  return new Set(
    functions.map((text) => {
      const start = code.indexOf(text);
      return `${start}:${start + text.length}`;
    }),
  );
}

describe('functions that a start calls are compiled with their file', () => {
  test.each([
    [
      'a declared function moves to the top',
      'let a=1;function f(x){return x+a}f(a);',
      ['function f(x){return x+a}'],
      'var f=(function(x){return x+a});let a=1;f(a);',
    ],
    [
      'an asynchronous one, and a generator',
      'async function f(){}function* g(){}',
      ['async function f(){}', 'function* g(){}'],
      'var f=(async function(){});var g=(function*(){});',
    ],
    [
      'arrows, in each other and in a declared one',
      'function f(){return a=>b=>c(d=>d)}',
      ['function f(){return a=>b=>c(d=>d)}', 'a=>b=>c(d=>d)', 'b=>c(d=>d)', 'd=>d'],
      'var f=(function(){return (a=>(b=>c((d=>d))))});',
    ],
    ['an uncalled function stays', 'function f(){}let g=()=>1;', [], 'function f(){}let g=()=>1;'],
    [
      'a nested function stays a declaration',
      'function f(){function g(){}g()}',
      ['function g(){}'],
      'function f(){function g(){}g()}',
    ],
  ])('%s', (_, code, functions, compiled) => {
    expect(compiledWithFile(code, called(code, ...functions))).toBe(compiled);
  });
});

test('files that import each other in a circle are reported', () => {
  const tree = { 'a.js': ['b.js', 'd.js'], 'b.js': ['c.js', 'd.js'], 'c.js': [], 'd.js': ['c.js'] };
  const files = (imports: Readonly<Record<string, string[]>>) =>
    Object.entries(imports).map(([fileName, names]) => ({ fileName, imports: names }));
  expect(() => assertNoCircle(files(tree))).not.toThrow();
  const circle = files({ ...tree, 'c.js': ['b.js'] });
  expect(() => assertNoCircle(circle)).toThrow('b.js → c.js → b.js');
});
