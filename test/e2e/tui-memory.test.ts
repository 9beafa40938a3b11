import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));

/** An editor that shows the file, and adds the line that is typed. */
const EDITOR = `#!/bin/sh
printf '\\033[2J\\033[Hediting %s: ' "$1"; cat "$1" 2>/dev/null
read -r line
[ -z "$line" ] || printf '%s\\n' "$line" >> "$1"
`;

inTerminal('context files are listed with a preview, edited and created', async () => {
  await using world = await openWorld();
  const { sandbox, model } = world;
  const editor = join(sandbox.root, 'editor');
  writeFileSync(editor, EDITOR);
  chmodSync(editor, 0o755);
  const file = join(sandbox.workspace, 'AGENTS.md');
  writeFileSync(file, '# Build\n\nnpm test runs the tests.\n');
  const env = { ...model.env('anthropic'), VISUAL: editor };
  using terminal = new TmuxTerminal(sandbox, [], { env, size: [80, 24] });
  await terminal.sees('/help');
  const open = async (): Promise<void> => {
    terminal.type('/memory');
    await terminal.sees('→ /memory');
    terminal.press('Enter');
    await terminal.sees('What agents read');
  };
  await open();
  const list = await terminal.sees('npm test runs the tests.');
  expect(list).toMatch(/▶ AGENTS\.md +34 B +project/);
  expect(list).toMatch(/~\/\.config\/muster\/AGENTS\.md new/);
  terminal.press('Enter');
  await terminal.sees('editing');
  terminal.type('Be brief.');
  terminal.press('Enter');
  await terminal.sees(/AGENTS\.md was changed; new conversations\s+and\s+subagents\s+read\s+it/);
  expect(readFileSync(file, 'utf8')).toBe('# Build\n\nnpm test runs the tests.\nBe brief.\n');
  await open();
  terminal.type('muster');
  await terminal.sees('It does not exist yet.');
  terminal.press('Enter');
  await terminal.sees('editing');
  terminal.type('Mine.');
  terminal.press('Enter');
  await terminal.sees('AGENTS.md was created');
  const home = sandbox.environment({})['HOME'] ?? '';
  expect(readFileSync(join(home, '.config/muster/AGENTS.md'), 'utf8')).toBe('Mine.\n');
});

inTerminal('plain lines list the context files', async () => {
  await using world = await openWorld();
  const { sandbox, model } = world;
  writeFileSync(join(sandbox.workspace, 'AGENTS.md'), 'Be brief.\n');
  const env = model.env('anthropic');
  using terminal = new TmuxTerminal(sandbox, ['--screen-reader'], { env, size: [120, 24] });
  await terminal.sees('Type what you want done.');
  terminal.type('/memory');
  terminal.press('Enter');
  await terminal.sees('What agents read');
  await terminal.sees(/workspace\/AGENTS\.md, 10 B, project/);
});

inTerminal('“Not now” to the review of a project is remembered until a file changes', async () => {
  await using world = await openWorld();
  const { sandbox, model } = world;
  const config = join(sandbox.workspace, '.muster/config.toml');
  mkdirSync(join(sandbox.workspace, '.muster'), { recursive: true });
  writeFileSync(config, '[permissions]\nallow = ["Bash(make)"]\n');
  const env = model.env('anthropic');
  const REVIEW = 'This project has files that change what Muster does';
  const start = (): TmuxTerminal => new TmuxTerminal(sandbox, [], { env, size: [80, 24] });
  const leave = async (terminal: TmuxTerminal): Promise<void> => {
    terminal.press('C-c', 'C-c');
    await terminal.sees('exit 0');
  };
  {
    using terminal = start();
    await terminal.sees(REVIEW);
    terminal.press('Enter');
    await terminal.sees('/help');
    await leave(terminal);
  }
  const { stdout } = await world.run(['trust', 'list']);
  expect(stdout).toMatch(/You chose “Not now” on \d{4}-\d\d-\d\d/);
  {
    using terminal = start();
    await terminal.sees('/help');
    terminal.type('/memory');
    await terminal.sees('→ /memory');
    terminal.press('Enter');
    // Nothing stands in the way of what is typed, and the review can be asked for.
    await terminal.sees('What agents read');
    terminal.press('Escape');
    await terminal.sees('/help');
    terminal.type('/trust');
    await terminal.sees('→ /trust');
    terminal.press('Enter');
    await terminal.sees(REVIEW);
    terminal.press('Escape');
    await terminal.sees('/help');
    await leave(terminal);
  }
  writeFileSync(config, '[permissions]\nallow = ["Bash"]\n');
  using terminal = start();
  await terminal.sees(REVIEW);
  expect(existsSync(config)).toBe(true);
});
