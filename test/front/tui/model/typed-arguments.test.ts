import { expect, it } from 'vitest';
import {
  findTypedArgument,
  findTypedVariable,
} from '../../../../src/front/tui/model/typed-arguments.ts';

const ARGS = ['file', 'style'].map((name) => ({ name, isRequired: false }));
const argument = (name: string, value: string, word: string, known = {}) => ({
  name,
  value,
  word,
  known,
});

it.each<readonly [string, ReturnType<typeof findTypedArgument>]>([
  ['', argument('file', '', '')],
  ['a', argument('file', 'a', 'a')],
  ['a.ts ', argument('style', '', '', { file: 'a.ts' })],
  ['a.ts sh', argument('style', 'sh', 'sh', { file: 'a.ts' })],
  ['style=sh', argument('style', 'sh', 'style=sh')],
  ['style=short ', argument('file', '', '', { style: 'short' })],
  ['file=a style=', argument('style', '', 'style=', { file: 'a' })],
  ['a b ', null],
])('%j is the argument %j', (text, expected) => {
  expect(findTypedArgument({ arguments: ARGS }, text)).toEqual(expected);
});

const variable = (name: string, value: string, before: string, rest = {}) => ({
  name,
  value,
  before,
  after: '',
  isLast: true,
  known: {},
  ...rest,
});

it.each<readonly [string, string, ReturnType<typeof findTypedVariable>]>([
  ['issue://{number}', 'issue://', variable('number', '', 'issue://')],
  ['issue://{number}', 'issue://1', variable('number', '1', 'issue://')],
  ['issue://{number}', 'issue:', null],
  ['issue://{number}', 'other://1', null],
  ['f://{a}/{b}', 'f://x', variable('a', 'x', 'f://', { after: '/', isLast: false })],
  ['f://{a}/{b}', 'f://x/y', variable('b', 'y', 'f://x/', { known: { a: 'x' } })],
  ['f://{+path}.md', 'f://x/y', variable('path', 'x/y', 'f://', { after: '.md' })],
  ['f://{?q}', 'f://', null],
  ['f://{a}{b}', 'f://x', variable('a', 'x', 'f://', { isLast: false })],
  ['f://x', 'f://x', null],
])('in %j, %j is the variable %j', (template, typed, expected) => {
  expect(findTypedVariable(template, typed)).toEqual(expected);
});
