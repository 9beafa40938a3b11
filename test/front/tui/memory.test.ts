import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ContextFile } from '../../../src/api/index.ts';
import { editMemory, listMemory } from '../../../src/front/tui/terminal/memory-list.ts';
import { ExternalEditor } from '../../../src/front/tui/terminal/external-editor.ts';
import { KEYS } from './emulator.ts';
import { Stage } from './stage.ts';
import { useVirtualTime } from './virtual-time.ts';

useVirtualTime();

let root = '';
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'muster-memory-')));
  mkdirSync(join(root, 'home'));
  mkdirSync(join(root, 'project/.git'), { recursive: true });
  vi.stubEnv('HOME', join(root, 'home'));
  vi.stubEnv('XDG_CONFIG_HOME', '');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

const FILES: readonly ContextFile[] = [
  { name: '~/.claude/CLAUDE.md', scope: 'user', text: 'Be brief.', isCut: false },
  { name: 'AGENTS.md', scope: 'project', text: '# Build\n\nnpm test', isCut: true },
  { name: 'docs/style.md', scope: 'project', importedBy: 'AGENTS.md', text: 'x', isCut: false },
];

/** The rows of the list, each as a line. */
const rows = (files: readonly ContextFile[]) =>
  listMemory(join(root, 'project'), files).map(
    ({ id, cells, mark = '' }) => `${id.replace(root, '')}|${cells.join('|')}|${mark}`,
  );

it('lists what is loaded, the notes of agents, and the files that could be created', () => {
  writeFileSync(join(root, 'project/AGENTS.md'), '# Build\n\nnpm test\n');
  mkdirSync(join(root, 'project/.muster/agent-memory/tester'), { recursive: true });
  writeFileSync(join(root, 'project/.muster/agent-memory/tester/MEMORY.md'), '# Memory\n');
  expect(rows(FILES)).toEqual([
    '/home/.claude/CLAUDE.md|9 B|yours|',
    '/project/AGENTS.md|18 B|project|cut',
    '/project/docs/style.md|1 B|imported|',
    '/project/.muster/agent-memory/tester/MEMORY.md|9 B|notes of agents|',
    '/home/.config/muster/AGENTS.md||yours|new',
  ]);
});

it('reads no notes from a pipe or through a link', () => {
  const notes = join(root, 'project/.muster/memory');
  mkdirSync(notes, { recursive: true });
  symlinkSync('/etc/passwd', join(notes, 'MEMORY.md'));
  mkdirSync(join(root, 'project/.muster/agent-memory/tester'), { recursive: true });
  execFileSync('mkfifo', [join(root, 'project/.muster/agent-memory/tester/MEMORY.md')]);
  expect(rows([]).filter((row) => row.includes('MEMORY'))).toEqual([]);
});

it('offers both files if there is none', () => {
  expect(rows([])).toEqual([
    '/project/AGENTS.md||project|new',
    '/home/.config/muster/AGENTS.md||yours|new',
  ]);
});

it.each([
  ['printf x >>', 'was created; new conversations and subagents read it'],
  ['true', 'was not changed'],
  ['false', 'ended with exit code 1'],
])('after the editor %j it says what follows', async (command, said) => {
  const path = join(root, 'home/.config/muster/AGENTS.md');
  const editor = join(root, 'editor');
  writeFileSync(editor, `#!/bin/sh\n${command} "$1"\n`, { mode: 0o755 });
  const externalEditor = new ExternalEditor({ EDITOR: editor }, (use) => use());
  const message = await editMemory({ externalEditor }, path);
  expect(message).toMatchObject({ text: expect.stringContaining(said) });
});

it.each([
  [40, 12],
  [80, 24],
] as const)('the list at %d × %d', async (columns, rows_) => {
  await using stage = new Stage({ columns, rows: rows_, cwd: '/home/you/project' });
  stage.contextFiles = FILES;
  vi.stubEnv('HOME', '/home/you');
  await stage.say('/memory');
  await expect.poll(() => stage.screen()).toContain('AGENTS.md');
  expect(await stage.screen()).toMatchSnapshot();
});

it('hostile names and texts are drawn as plain text', async () => {
  await using stage = new Stage();
  const bad = '\u001b]0;title\u0007\u202Ex\u001b[2J';
  stage.contextFiles = [{ name: `${bad}.md`, scope: 'project', text: bad, isCut: false }];
  await stage.say('/memory');
  await expect.poll(() => stage.screen()).toContain('.md');
  await stage.emulator.press(KEYS.down);
  expect(await stage.screen()).not.toContain('\u202E');
  expect(stage.emulator.titles).toEqual([]);
});
