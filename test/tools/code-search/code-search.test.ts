import { linkSync, mkdirSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { parseLocations } from '../../../src/base/code-search/format-ranking.ts';
import type { ToolContext } from '../../../src/protocol/tool.ts';
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

async function search(
  workspace: Workspace,
  question: string,
  input: JsonObject = {},
  parts: Partial<ToolContext> = {},
) {
  const { text, error } = await workspace.call('FindPlaces', { question, ...input }, parts);
  expect(error).toBe(undefined);
  const places = parseLocations(text).map(({ path, line }) => `${path}:${line}`);
  return { text, places, first: places[0] };
}

test('a location comes with its line and the reason', async () => {
  const { text } = await search(sources(), 'Where are cookies of a session kept?', { limit: 2 });
  expect(text).toBe(
    `1. \`src/session/cookie-jar.ts:4\`: defines \`CookieJar\`, with “cookies”, “session” close together, “cookies”, “session” in its path.
   > export class CookieJar {
2. \`test/cookie-jar.test.ts:1\`: has “cookies”, “session” close together, “cookies” in its path (test).
   > test("CookieJar keeps cookies of a session", () => {});

“kept” stands in no file.`,
  );
});

test.each([
  ['How long does a retry wait?', 'net/backoff.py:1'],
  ['ServeHTTP of the router', 'net/router.go:3'],
  ['walking a tree', 'core/walk.rs:1'],
  ['rounding half up', 'core/Rounding.java:2'],
  ['push on a full ring', 'core/ring.c:3'],
])('%s', async (question, place) => {
  expect((await search(sources(), question)).first).toBe(place);
});

test('a name in the code is enough, in a question of any language', async () => {
  const question = 'Wo wird die Dauer bis zum nächsten Versuch bestimmt (retry_delay)?';
  const { text, first } = await search(sources(), question);
  expect([first, text.includes('Nothing fits')]).toEqual(['net/backoff.py:1', false]);
});

test('kinds of files that the question asks for come first, and paths that it names', async () => {
  const workspace = sources();
  const firstOf = async (question: string) => (await search(workspace, question)).first;
  expect([
    await firstOf('the tests of the cookie jar of a session'),
    await firstOf('In which docs is the cookie jar of a session?'),
    await firstOf('cookie jar of a session in split.ts'),
  ]).toEqual([
    'test/cookie-jar.test.ts:1',
    'README.md:3',
    expect.stringMatching(/^src\/session\/split\.ts:/),
  ]);
});

test('a directory can be searched alone, and its paths are shown from the working directory', async () => {
  const workspace = sources();
  const { places } = await search(workspace, 'cookie session', { path: 'test' });
  expect(places).toEqual(['test/cookie-jar.test.ts:1']);
});

test('at most as many locations as requested are shown, and the text stays within its limit', async () => {
  const workspace = sources();
  for (let index = 0; index < 30; index += 1) workspace.write(`many/${index}.ts`, 'gizmo();\n');
  const shown = async (input: JsonObject) =>
    (await search(workspace, 'gizmo', input)).places.length;
  expect([await shown({}), await shown({ limit: 3 }), await shown({ limit: 99 })]).toEqual([
    8, 3, 20,
  ]);
  const caps = { ...workspace.context.caps, resultBytes: 100 };
  const { text } = await search(workspace, 'gizmo', {}, { caps });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(100);
});

test('names decide if a question asks for a location, and text if it reports a fault', async () => {
  const workspace = sources();
  const used = 'gears.grind(pace);\n'.repeat(40);
  workspace.write(
    'src/grind.ts',
    '/** Of gears. */\nexport function grind(pace: number) {\n  return pace;\n}\n',
  );
  workspace.write('src/machine.ts', `export function run(pace: number) {\n${used}}\n`);
  const place = await search(workspace, 'Where do gears grind?');
  expect(place.first).toBe('src/grind.ts:2');
  const report = await search(workspace, 'gears grind with a loud noise');
  expect(report.first).toMatch(/^src\/machine\.ts:/);
});

test('the words of a message count more together in quotes', async () => {
  const workspace = sources();
  const body = (line: string) => `export function settle() {\n  ${line}\n}\n`;
  workspace.write('src/a.ts', body('return portal && closed && early;'));
  workspace.write('src/b.ts', body('throw new Error("portal closed early");'));
  const { first } = await search(workspace, 'portal closed early');
  expect(first).toBe('src/b.ts:1');
});

test('sources below a directory of texts count as sources', async () => {
  const workspace = makeWorkspace();
  workspace.write('doc/manual.go', 'package doc\n\nfunc MakeManual(c *Command) {\n}\n');
  workspace.write('doc/guide.md', '# Manual\n\nHow a manual of a command is made.\n');
  workspace.write('command.go', 'package main\n\ntype Command struct {\n\tname string\n}\n');
  const { first } = await search(workspace, 'Where is the manual of a command made?');
  expect(first).toBe('doc/manual.go:3');
});

test.each([
  ['function first() {\n  return 1;\n}\n\n', '', 'has “gadget”.'],
  ['function first() {\n  return 1;\n', '  ', 'in `first`, with “gadget”.'],
  ['class Desk {\n  first() {\n  }\n', '  ', 'in `Desk`, with “gadget”.'],
])(
  'a line far below a definition belongs to it only if it is inside it: %j',
  async (above, indent, reason) => {
    const workspace = makeWorkspace();
    const far = `${indent}call();\n`.repeat(90);
    workspace.write('desk.ts', `${above}${far}${indent}gadget();\n`);
    const { text } = await search(workspace, 'gadget');
    expect(text).toMatch(/^1\. `desk\.ts:\d+`: (.*)\n/);
    expect(text).toContain(reason);
  },
);

test('a sentence that begins like a definition defines nothing', async () => {
  const workspace = makeWorkspace();
  workspace.write('guide.md', '# Guide\n\ntype checking of gadgets is slow.\n');
  const { text } = await search(workspace, 'checking gadgets');
  expect(text).toMatch(/^1\. `guide\.md:3`: has “checking”, “gadgets” close together/);
});

test('words that no file has are named', async () => {
  const { text } = await search(sources(), 'quantum flux');
  expect(text).toBe(
    'Nothing found that fits. “quantum”, “flux” stand in no file. Another word, or the name of a symbol or file, may help.',
  );
});

test('a directory without files says so', async () => {
  const { text } = await search(makeWorkspace(), 'cookies');
  expect(text).toBe('Nothing found: there are no files to search here.');
});

test('files that Grep would leave out are not searched', async () => {
  const workspace = sources();
  workspace.write('.env', 'FLAMINGO=1\n');
  workspace.write('closed/birds.ts', 'export const flamingo = 1;\n');
  workspace.write('.gitignore', 'ignored/\n');
  workspace.write('ignored/birds.ts', 'export const flamingo = 1;\n');
  linkSync(workspace.write('../outside.ts', 'flamingo();\n'), workspace.path('linked.ts'));
  const excludedPathsBelow = () => (path: string) =>
    path.startsWith('closed/') ? 'a rule' : undefined;
  const closed = await search(
    workspace,
    'flamingo',
    {},
    { excludedPathsBelow: excludedPathsBelow },
  );
  expect(closed.text).toMatch(/^Nothing found that fits\. “flamingo” stands in no file\./);
  expect((await search(workspace, 'flamingo')).places).toEqual(['closed/birds.ts:1']);
});

test.each([
  ['..', 'PERMISSION_DENIED'],
  ['nowhere', 'NOT_FOUND'],
])('the path %s cannot be searched', async (path, error) => {
  const output = await sources().call('FindPlaces', { question: 'cookies', path });
  expect(output.error).toBe(error);
});

test('a search that is stopped ends', async () => {
  const signal = AbortSignal.abort();
  const output = await sources().call('FindPlaces', { question: 'cookies' }, { signal });
  expect(output.error).toBe('CANCELLED');
});

test('hostile files change nothing', async () => {
  const workspace = sources();
  const { places: before } = await search(workspace, 'cookies of a session');
  workspace.write('src/long.ts', `var cookies = "${'session cookie '.repeat(700_000)}";\n`);
  workspace.write('src/binary.ts', Buffer.from('cookies session cookie jar \0\0\0'));
  workspace.write('src/empty.ts', '');
  workspace.write('src/(((.ts', '((((((((((((((((((((((((((((((((\n'.repeat(100));
  mkdirSync(workspace.path('loop'));
  symlinkSync('..', workspace.path('loop/up'));
  symlinkSync('self', workspace.path('loop/self'));
  const { places: after } = await search(workspace, 'cookies of a session');
  expect(after).toEqual(before);
});
