import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeTree, formatFiles } from './support.ts';

describe('the locations of context files', () => {
  test('the user’s own file comes first, then those from the repository root down, the nearest last', () => {
    const tree = makeTree({
      'home/.claude/CLAUDE.md': 'mine at Claude',
      'home/.config/muster/AGENTS.md': 'mine at Muster',
      'repo/AGENTS.md': 'root',
      'repo/packages/CLAUDE.md': 'packages',
      'repo/packages/app/AGENTS.md': 'app',
      'repo/packages/app/deep/AGENTS.md': 'below the work',
      'AGENTS.md': 'above the repository',
    });
    expect(formatFiles(tree.readContext('packages/app'))).toEqual([
      '~/.claude/CLAUDE.md: mine at Claude',
      '~/.config/muster/AGENTS.md: mine at Muster',
      '../../AGENTS.md: root',
      '../CLAUDE.md: packages',
      'AGENTS.md: app',
    ]);
    expect(tree.notices).toEqual([]);
  });

  test('every documented file name of a product is found in any directory', () => {
    const names = [
      'AGENTS.md',
      '.github/copilot-instructions.md',
      'GEMINI.md',
      'QWEN.md',
      'CLAUDE.md',
      '.claude/CLAUDE.md',
      'CLAUDE.local.md',
    ];
    const files = names.map((name) => [`repo/sub/${name}`, `of ${name}`] as const);
    const tree = makeTree(Object.fromEntries(files));
    expect(formatFiles(tree.readContext('sub'))).toEqual(
      names.map((name) => `${name}: of ${name}`),
    );
  });

  test.each([
    '.copilot/copilot-instructions.md',
    '.gemini/GEMINI.md',
    '.qwen/QWEN.md',
    '.config/opencode/AGENTS.md',
    '.pi/agent/AGENTS.md',
    '.codex/AGENTS.md',
    '.claude/CLAUDE.md',
    '.config/muster/AGENTS.md',
  ])('the user’s ~/%s', (name) => {
    const tree = makeTree({ [`home/${name}`]: 'Mine.' });
    expect(tree.readContext()?.files).toEqual([
      { name: `~/${name}`, scope: 'user', text: 'Mine.', isCut: false },
    ]);
  });

  test('an override replaces the file next to it', () => {
    const tree = makeTree({
      'repo/AGENTS.md': 'as it is',
      'repo/AGENTS.override.md': 'for now',
      'home/.codex/AGENTS.md': 'as it is at home',
      'home/.codex/AGENTS.override.md': 'for now at home',
    });
    expect(formatFiles(tree.readContext())).toEqual([
      '~/.codex/AGENTS.override.md: for now at home',
      'AGENTS.override.md: for now',
    ]);
  });

  test('a variable can set the directory of a product', () => {
    const tree = makeTree({ 'elsewhere/CLAUDE.md': 'moved', 'home/.claude/CLAUDE.md': 'left' });
    const environment = { HOME: tree.home, CLAUDE_CONFIG_DIR: join(tree.top, 'elsewhere') };
    expect(formatFiles(tree.readContext('', { environment }))).toEqual([
      `${tree.top}/elsewhere/CLAUDE.md: moved`,
    ]);
  });

  test('outside a repository only the current directory is searched', () => {
    const tree = makeTree({ 'repo/AGENTS.md': 'above', 'repo/sub/AGENTS.md': 'here' });
    rmSync(join(tree.repo, '.git'), { recursive: true });
    expect(formatFiles(tree.readContext('sub'))).toEqual(['AGENTS.md: here']);
  });

  test('missing and empty files give no context and no notice', () => {
    const tree = makeTree({ 'repo/AGENTS.md': ' \n\n' });
    expect([tree.readContext(), tree.notices]).toEqual([null, []]);
  });

  test('a directory other than that of the session is read without git information', () => {
    const tree = makeTree({ 'repo/AGENTS.md': 'root', 'repo/sub/AGENTS.md': 'sub' });
    const live = tree.open('sub', { git: 'Branch: main' });
    expect(live.getContext(join(tree.repo, 'sub'))?.git).toBe('Branch: main');
    expect(live.getContext(tree.repo)).toMatchObject({ git: null, files: [{ text: 'root' }] });
  });
});

describe('files with the same content appear once', () => {
  const SAME = 'Use tabs.';

  test.each([
    ['a copy', { 'repo/AGENTS.md': SAME, 'repo/CLAUDE.md': `\r\n${SAME}\r\n\r\n` }],
    [
      'a file that only imports another',
      { 'repo/AGENTS.md': SAME, 'repo/CLAUDE.md': '@AGENTS.md\n' },
    ],
    [
      'a file that imports both',
      { 'repo/AGENTS.md': SAME, 'repo/GEMINI.md': '@./AGENTS.md @CLAUDE.md' },
    ],
  ])('%s', (_, files) => {
    expect(formatFiles(makeTree(files).readContext())).toEqual([`AGENTS.md: ${SAME}`]);
  });

  test('a link to another file appears once', () => {
    const tree = makeTree({ 'repo/AGENTS.md': SAME });
    symlinkSync('AGENTS.md', join(tree.repo, 'CLAUDE.md'));
    expect(formatFiles(tree.readContext())).toEqual([`AGENTS.md: ${SAME}`]);
  });

  test('a link in the other direction appears once', () => {
    const tree = makeTree({ 'repo/CLAUDE.md': SAME });
    symlinkSync('CLAUDE.md', join(tree.repo, 'AGENTS.md'));
    expect(formatFiles(tree.readContext())).toEqual([`AGENTS.md: ${SAME}`]);
  });

  test('for a copy in a lower directory the nearest one counts', () => {
    const tree = makeTree({ 'repo/AGENTS.md': SAME, 'repo/sub/AGENTS.md': SAME });
    expect(formatFiles(tree.readContext('sub'))).toEqual([`AGENTS.md: ${SAME}`]);
  });

  test('a home directory can be the repository itself', () => {
    const tree = makeTree({ 'home/.claude/CLAUDE.md': SAME });
    mkdirSync(join(tree.home, '.git'));
    const live = tree.open();
    expect(formatFiles(live.getContext(tree.home))).toEqual([`.claude/CLAUDE.md: ${SAME}`]);
  });

  test('text that an import adds appears next to the importing file, once', () => {
    const tree = makeTree({
      'repo/AGENTS.md': 'All.',
      'repo/CLAUDE.md': '@AGENTS.md\nAnd @docs/more.md.',
      'repo/docs/more.md': 'More, see @../AGENTS.md',
    });
    expect(tree.readContext()?.files).toEqual([
      { name: 'AGENTS.md', scope: 'project', text: 'All.', isCut: false },
      { name: 'CLAUDE.md', scope: 'project', text: '@AGENTS.md\nAnd @docs/more.md.', isCut: false },
      {
        name: 'docs/more.md',
        scope: 'project',
        importedBy: 'CLAUDE.md',
        text: 'More, see @../AGENTS.md',
        isCut: false,
      },
    ]);
  });
});

describe('imports', () => {
  test('are followed five levels deep and no deeper', () => {
    const chain = [1, 2, 3, 4, 5, 6].map(
      (n) => [`repo/${n}.md`, `${n}, then @${n + 1}.md`] as const,
    );
    const tree = makeTree({ 'repo/AGENTS.md': '0, then @1.md', ...Object.fromEntries(chain) });
    expect(tree.readContext()?.files.map(({ name }) => name)).toEqual([
      'AGENTS.md',
      '1.md',
      '2.md',
      '3.md',
      '4.md',
      '5.md',
    ]);
    expect(tree.notices).toEqual([
      'context file 5.md imports 6.md at a depth of more than 5: it is left out',
    ]);
  });

  test('a copy in another directory is not repeated, but its imports are followed from there', () => {
    const tree = makeTree({
      'repo/CLAUDE.md': 'Read @style.md',
      'repo/style.md': 'tabs',
      'repo/sub/CLAUDE.md': 'Read @style.md',
      'repo/sub/style.md': 'blanks',
    });
    expect(formatFiles(tree.readContext('sub'))).toEqual([
      '../style.md: tabs',
      'CLAUDE.md: Read @style.md',
      'style.md: blanks',
    ]);
    expect(tree.notices).toEqual([]);
  });

  test('a file reached by a long and a short path still brings in its own imports', () => {
    const tree = makeTree({
      'repo/AGENTS.md': 'main @1.md @5.md',
      'repo/1.md': 'one @2.md',
      'repo/2.md': 'two @3.md',
      'repo/3.md': 'three @4.md',
      'repo/4.md': 'four @5.md',
      'repo/5.md': 'five @6.md',
      'repo/6.md': 'six',
    });
    expect(formatFiles(tree.readContext())).toContain('6.md: six');
    expect(tree.notices).toEqual([]);
  });

  test('files that are already included are not reported as missing further down', () => {
    const names = Array.from({ length: 12 }, (_, n) => `${n}.md`);
    const all = names.map((name) => `@${name}`).join(' ');
    const tree = makeTree({
      'repo/AGENTS.md': all,
      ...Object.fromEntries(names.map((name) => [`repo/${name}`, `${name} ${all}`])),
    });
    expect(tree.readContext()?.files).toHaveLength(names.length);
    expect(tree.notices).toEqual([]);
  });

  test('in a circle end', () => {
    const tree = makeTree({ 'repo/AGENTS.md': 'a @b.md', 'repo/b.md': 'b @AGENTS.md @b.md' });
    expect(formatFiles(tree.readContext())).toEqual([
      'AGENTS.md: a @b.md',
      'b.md: b @AGENTS.md @b.md',
    ]);
  });

  test('the user’s own file may import from the home directory, a project file may not', () => {
    const tree = makeTree({
      'home/.claude/CLAUDE.md': 'Mine: @~/notes.md',
      'home/notes.md': 'Notes.',
      'repo/AGENTS.md': 'Ours: @~/notes.md',
    });
    expect(formatFiles(tree.readContext())).toEqual([
      '~/.claude/CLAUDE.md: Mine: @~/notes.md',
      '~/notes.md: Notes.',
      'AGENTS.md: Ours: @~/notes.md',
    ]);
    expect(tree.notices).toEqual([
      `context file ../home/notes.md, which AGENTS.md imports, leads out of ${tree.repo}: it is left out`,
    ]);
  });

  test('words with an @, directories and missing files are not imports', () => {
    const tree = makeTree({
      'repo/AGENTS.md': 'Ask @alice of @docs or @/components/Button about @types/node.',
      'repo/docs/x.md': 'x',
    });
    expect([formatFiles(tree.readContext()).length, tree.notices]).toEqual([1, []]);
  });

  test('at most 64 files are imported, the nearest first', () => {
    const many = Array.from({ length: 60 }, (_, n) => n);
    const tree = makeTree({
      'repo/AGENTS.md': many.map((n) => `@a${n}.md`).join('\n'),
      'repo/sub/AGENTS.md': many.map((n) => `@b${n}.md`).join('\n'),
      ...Object.fromEntries(many.map((n) => [`repo/a${n}.md`, `a${n}`])),
      ...Object.fromEntries(many.map((n) => [`repo/sub/b${n}.md`, `b${n}`])),
    });
    expect(tree.readContext('sub')?.files.map(({ name }) => name)).toEqual([
      '../a0.md',
      '../a1.md',
      ...many.map((n) => `b${n}.md`),
    ]);
    expect(tree.notices).toEqual([
      'more than 64 context files, or 1048576 bytes: ../a2.md and all later files are left out',
    ]);
  });
});

describe('changed files', () => {
  test('are read again and reported to a task that is about to start', async () => {
    const tree = makeTree({ 'repo/AGENTS.md': 'before' });
    let at = 0;
    const live = tree.open('', { clock: { now: () => 0, monotonic: () => at } });
    const before = live.getContext(tree.repo);
    tree.write({ 'repo/AGENTS.md': 'after it', 'repo/CLAUDE.md': 'new' });
    await live.refresh();
    expect(live.getContext(tree.repo)).toBe(before);
    at = 10_000;
    await live.refresh();
    expect(formatFiles(live.getContext(tree.repo))).toEqual([
      'AGENTS.md: after it',
      'CLAUDE.md: new',
    ]);
    expect(live.getContext(tree.repo)?.id).not.toBe(before?.id);
    at = 20_000;
    const now = live.getContext(tree.repo);
    await live.refresh();
    expect(live.getContext(tree.repo)).toBe(now);
    expect(tree.notices).toEqual([
      'context files have changed and were read again: new tasks get the new content',
    ]);
  });
});
