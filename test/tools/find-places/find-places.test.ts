import { mkdirSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeWorkspace, type Workspace } from '../workspace.ts';

const SOURCES: Readonly<Record<string, string>> = {
  'src/session/cookie-jar.ts':
    'import { split } from "./split";\n\n/** Keeps the cookies of a session. */\nexport class CookieJar {\n  store(header: string): void {\n    split(header);\n  }\n}\n',
  'src/session/split.ts':
    'export function split(header: string) {\n  return header.split(";");\n}\n',
  'net/backoff.py':
    'def retry_delay(attempt):\n    """How long a retry waits."""\n    return 2 ** attempt\n',
  'net/router.go': 'package net\n\nfunc (r *Router) ServeHTTP(w Writer) {\n}\n',
  'core/walk.rs': 'pub(crate) fn walk_tree(root: &Path) -> Tree {\n    Tree::new(root)\n}\n',
  'core/Rounding.java':
    'class Rounding {\n  public static long roundHalfUp(double value) {\n    return Math.round(value);\n  }\n}\n',
  'core/ring.c':
    '#include "ring.h"\n\nstatic int ring_push(struct ring *r, int value) {\n  return 0;\n}\n',
  'test/cookie-jar.test.ts': 'test("CookieJar keeps cookies of a session", () => {});\n',
  'README.md': '# Cookies\n\nThe cookie jar of a session stores cookies.\n',
};

function sources(): Workspace {
  const workspace = makeWorkspace();
  for (const [path, text] of Object.entries(SOURCES)) workspace.write(path, text);
  return workspace;
}

async function search(workspace: Workspace, input: Record<string, string | string[]>, parts = {}) {
  const { text, error } = await workspace.call('FindPlaces', input, parts);
  expect(error).toBe(undefined);
  const [head, ...places] = text.split('\n').map((line) => JSON.parse(line));
  return { head, places, first: `${places[0]?.path}:${places[0]?.line}` };
}

test('a place is told with the reasons for it', async () => {
  const { head, places } = await search(sources(), {
    question: 'Where are cookies of a session kept?',
  });
  expect([head, places[0]]).toEqual([
    { files: 9, absent: ['kept'] },
    {
      path: 'src/session/cookie-jar.ts',
      kind: 'source',
      line: 4,
      name: 'CookieJar',
      isDefinition: true,
      matched: ['cookies', 'session'],
      inPath: ['cookies', 'session'],
      score: expect.any(Number),
      coverage: expect.any(Number),
    },
  ]);
});

test.each([
  ['How long does a retry wait?', 'net/backoff.py:1'],
  ['ServeHTTP of the router', 'net/router.go:3'],
  ['walking a tree', 'core/walk.rs:1'],
  ['rounding half up', 'core/Rounding.java:2'],
  ['push on a full ring', 'core/ring.c:3'],
])('%s', async (question, place) => {
  expect((await search(sources(), { question })).first).toBe(place);
});

test('a name that is there is meant, in a question of any language', async () => {
  const question = 'Wo wird die Dauer bis zum nächsten Versuch bestimmt (retry_delay)?';
  const { places } = await search(sources(), { question });
  expect(places[0]).toMatchObject({ path: 'net/backoff.py', coverage: 0.5 });
});

test('kinds that are asked for come first, and paths that are named', async () => {
  const workspace = sources();
  const question = 'cookie jar of a session';
  expect((await search(workspace, { question, kinds: ['test'] })).first).toBe(
    'test/cookie-jar.test.ts:1',
  );
  expect((await search(workspace, { question, kinds: ['docs'] })).first).toBe('README.md:3');
  expect((await search(workspace, { question, paths: ['split.ts'] })).first).toMatch(
    /^src\/session\/split\.ts:/,
  );
});

test('a place is asked for by what it is called, a fault reported by what is seen', async () => {
  const workspace = sources();
  const used = 'gears.grind(pace);\n'.repeat(40);
  workspace.write(
    'src/grind.ts',
    '/** Of gears. */\nexport function grind(pace: number) {\n  return pace;\n}\n',
  );
  workspace.write('src/machine.ts', `export function run(pace: number) {\n${used}}\n`);
  const place = await search(workspace, { question: 'Where do gears grind?' });
  expect(place.first).toBe('src/grind.ts:2');
  const report = await search(workspace, { question: 'gears grind with a loud noise' });
  expect(report.first).toMatch(/^src\/machine\.ts:/);
});

test('a message that is quoted tells more than its words elsewhere', async () => {
  const workspace = sources();
  const body = (line: string) => `export function settle() {\n  ${line}\n}\n`;
  workspace.write('src/a.ts', body('return portal && closed && early;'));
  workspace.write('src/b.ts', body('throw new Error("portal closed early");'));
  const { first } = await search(workspace, { question: 'portal closed early' });
  expect(first).toBe('src/b.ts:1');
});

test('sources below a directory of texts are sources', async () => {
  const workspace = makeWorkspace();
  workspace.write('doc/manual.go', 'package doc\n\nfunc MakeManual(c *Command) {\n}\n');
  workspace.write('doc/guide.md', '# Manual\n\nHow a manual of a command is made.\n');
  workspace.write('command.go', 'package main\n\ntype Command struct {\n\tname string\n}\n');
  const { first } = await search(workspace, { question: 'Where is the manual of a command made?' });
  expect(first).toBe('doc/manual.go:3');
});

test.each([
  ['function first() {\n  return 1;\n}\n\n', '', null],
  ['function first() {\n  return 1;\n', '  ', 'first'],
  ['class Desk {\n  first() {\n  }\n', '  ', 'Desk'],
])(
  'a line far below a definition belongs to it only where it stands in it: %j',
  async (above, indent, name) => {
    const workspace = makeWorkspace();
    const far = `${indent}call();\n`.repeat(90);
    workspace.write('desk.ts', `${above}${far}${indent}gadget();\n`);
    const { places } = await search(workspace, { question: 'gadget' });
    expect(places[0]).toMatchObject({ name, isDefinition: false, matched: ['gadget'] });
  },
);

test('a sentence that begins like a definition is none', async () => {
  const workspace = makeWorkspace();
  workspace.write('guide.md', '# Guide\n\ntype checking of gadgets is slow.\n');
  const { places } = await search(workspace, { question: 'checking gadgets' });
  expect(places[0]).toMatchObject({ path: 'guide.md', line: 3, name: null, isDefinition: false });
});

test('words that stand nowhere are said', async () => {
  const { head, places } = await search(sources(), { question: 'quantum flux' });
  expect([head, places]).toEqual([{ files: 9, absent: ['quantum', 'flux'] }, []]);
});

test('what Read may not open is not searched', async () => {
  const workspace = sources();
  workspace.write('.env', 'FLAMINGO=1\n');
  workspace.write('closed/birds.ts', 'export const flamingo = 1;\n');
  workspace.write('.gitignore', 'ignored/\n');
  workspace.write('ignored/birds.ts', 'export const flamingo = 1;\n');
  const withheldBelow = () => (path: string) => (path.startsWith('closed/') ? 'a rule' : undefined);
  const closed = await search(workspace, { question: 'flamingo' }, { withheldBelow });
  expect([closed.head.absent, closed.places]).toEqual([['flamingo'], []]);
  expect((await search(workspace, { question: 'flamingo' })).first).toBe('closed/birds.ts:1');
});

test('hostile files change nothing', async () => {
  const workspace = sources();
  const { places: before } = await search(workspace, { question: 'cookies of a session' });
  workspace.write('src/long.ts', `var cookies = "${'session cookie '.repeat(700_000)}";\n`);
  workspace.write('src/binary.ts', Buffer.from('cookies session cookie jar \0\0\0'));
  workspace.write('src/empty.ts', '');
  workspace.write('src/(((.ts', '((((((((((((((((((((((((((((((((\n'.repeat(100));
  mkdirSync(workspace.path('loop'));
  symlinkSync('..', workspace.path('loop/up'));
  symlinkSync('self', workspace.path('loop/self'));
  const { places: after } = await search(workspace, { question: 'cookies of a session' });
  const shown = (list: readonly { path: string; line: number }[]) =>
    list.map(({ path, line }) => `${path}:${line}`);
  expect(shown(after)).toEqual(shown(before));
});
