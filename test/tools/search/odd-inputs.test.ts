import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { makeWorkspace, type Workspace } from '../workspace.ts';

/** Internal words that no result may contain. */
const INTERNAL =
  /broke\b|spawn|args\[|ENOTDIR|ENOENT|EINVAL|E2BIG|undefined|INTERNAL|\[object|--[a-z]+ flag/;

function oddWorkspace(): Workspace {
  const at = makeWorkspace();
  at.write('src/a.ts', 'x\nfoo(bar\n');
  at.write('app/(auth)/[id]/page.tsx', 'x\n');
  at.write('b.bin', Buffer.from([0, 1, 2, 0xff]));
  fs.mkdirSync(at.path('empty'));
  fs.symlinkSync('nowhere', at.path('dangling'));
  fs.symlinkSync('loop', at.path('loop'));
  fs.symlinkSync('/etc', at.path('outside'));
  execFileSync('mkfifo', [at.path('fifo')]);
  return at;
}

/** Odd texts, separated by blanks. */
const PRINTABLE = String.raw`
. ./ / // .. ../ ../.. ~ ~/ ~root - -- -e src src/ src// ./src src/. src/.. src/../.. src/a.ts src/a.ts/ src/a.ts/x
fifo fifo/ dangling dangling/x loop loop/x outside outside/* empty empty/* b.bin missing missing/ missing/* missing/**/x
/dev/null /dev/zero /proc/self/mem /etc/passwd /etc/* /nowhere/* ~/* ../* **/.. **/../x */../../x a/./b */./x
[ ] [] [!] [^] [a a] [[ [[:alpha:] [[:nope:]] [z-a] [\ []] [a-] { } {} {,} {a a} {a, {a,b {{ {{a,b} {1..} {1..999999} {b..a} {/,/}
( ) () (a a) (|) (( !( !() +( @(a|b *(a ?( !(!(!(!(!(!(a)))))) +(a/b) !(a/b) *(a|/) @(a/b|c)/d
\ \\ a\ \* \/ C:\x\*.ts src\a.ts * ** *** */ **/ /** **/**/** , ,, ; | a,b a, ,a ! !! !* !a,!b !** " ' [""] [" ["a"
$HOME $(id) # % file:///etc http://x/y é 日本 😀 a:b a=b a&b a>b
(?=x) (?<!x) (?P<n a{2 a{99999}{9999} *a + x** (?i (?z)x \1 \8 \x \u{110000} \p{Nope} \n ^ $ ^$ a| [[:x:]] a{,3} \Q \x00 (((((a .*.*.*.*x
`;

const ODD_TEXTS: readonly string[] = [
  ...new Set(PRINTABLE.trim().split(/\s/)),
  ...'|| |\t|\n|\r|a b|a\nb|`id`|\uFEFF|\u202E'.split('|'),
  ...'a\0b|\0|*\0|\0/*|src/\0|\uD800|*\uDC00*|a\uD83D|\0\uD800'.split('|'),
  ...'* *a ? a a/ ( [ {a,b} {a/,b/} !('.split(' ').map((text) => text.repeat(300)),
  'a/'.repeat(3000),
  'x'.repeat(40_000),
];

/** The longest text: a message may repeat a path of 4,096 bytes and its directory. */
const MAX_TEXT = 9000;
/** The number of calls that run at the same time. */
const AT_ONCE = 16;

const CALLS: readonly (readonly [string, (text: string) => JsonObject])[] = [
  ['Glob', (text) => ({ pattern: text })],
  ['Glob', (text) => ({ pattern: '*.ts', path: text })],
  ['Glob', (text) => ({ pattern: text, path: 'src/a.ts' })],
  ['Grep', (text) => ({ pattern: text, output_mode: 'content' })],
  ['Grep', (text) => ({ pattern: text, path: 'b.bin', multiline: true })],
  ['Grep', (text) => ({ pattern: 'x', path: text })],
  ['Grep', (text) => ({ pattern: 'x', glob: text })],
  ['Grep', (text) => ({ pattern: 'x', type: text, output_mode: 'count' })],
  ['LS', (text) => ({ path: text })],
];

async function problemOf(at: Workspace, name: string, input: JsonObject): Promise<string | null> {
  const shown = `${name} ${JSON.stringify(input).slice(0, 120)}`;
  try {
    const { text, error } = await at.call(name, input);
    const echoed = JSON.stringify(input);
    const hit = INTERNAL.exec(text)?.[0];
    if (error === 'INTERNAL_ERROR') return `${shown}: ${text}`;
    if (!text.isWellFormed()) return `${shown}: half a character`;
    if (text === '') return `${shown}: an empty result`;
    if (text.length > MAX_TEXT) return `${shown}: ${text.length} characters`;
    return hit === undefined || echoed.includes(hit) ? null : `${shown}: ${text}`;
  } catch (thrown) {
    return `${shown}: threw ${String(thrown)}`;
  }
}

describe.each(CALLS)('%s', (name, inputFor) => {
  test(`answers every odd text in ${JSON.stringify(inputFor('…'))}`, async () => {
    const at = oddWorkspace();
    const problems: (string | null)[] = [];
    for (let first = 0; first < ODD_TEXTS.length; first += AT_ONCE) {
      const texts = ODD_TEXTS.slice(first, first + AT_ONCE);
      const found = texts.map((text) => problemOf(at, name, inputFor(text)));
      problems.push(...(await Promise.all(found)));
    }
    expect(problems.filter((each) => each !== null)).toEqual([]);
  });
});

test('no list of fragments makes a tool fail', async () => {
  const at = oddWorkspace();
  const fragments = String.raw`a * ** ? / .. . ! ( ) [ ] { } , | \ @( +( ~ src a.ts - ^ $ é`.split(
    ' ',
  );
  const fragment = fc.constantFrom(...fragments, ' ', '\0', '\uD800', '\n');
  const text = fc.array(fragment, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
  await fc.assert(
    fc.asyncProperty(text, fc.constantFrom(...CALLS), async (odd, [name, inputFor]) => {
      expect(await problemOf(at, name, inputFor(odd))).toBeNull();
    }),
    { numRuns: 60 },
  );
});
