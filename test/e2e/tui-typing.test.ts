import { chmodSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';

const inTerminal = it.runIf(needs('tmux', 'tmux'));

/** A full-screen editor: it shows the file, takes lines until an empty one, and ends with the code of its first argument. */
const EDITOR = `#!/bin/sh
code=$1; shift
trap 'echo interrupted' INT
printf '\\033[2J\\033[Hediting: '; cat "$1"; echo; stat -c 'rights %a' "$1"
while :; do
  read -r line || continue
  [ -n "$line" ] || break
  printf '\\n%s' "$line" >> "$1"
done
exit $code
`;

inTerminal('Ctrl+G opens the text in the editor of the user, while the tasks go on', async () => {
  await using world = await openWorld({
    script: (request) =>
      JSON.stringify(request.messages).includes('second line')
        ? { text: 'Both lines arrived.' }
        : { delayMs: 300, text: 'The first answer.' },
  });
  const { sandbox, model } = world;
  const program = join(sandbox.root, 'my editor');
  writeFileSync(program, EDITOR);
  chmodSync(program, 0o755);
  const env = { ...model.env('anthropic'), VISUAL: `"${program}" 0`, TMPDIR: sandbox.root };
  using terminal = new TmuxTerminal(sandbox, ['begin now'], { env });
  await terminal.sees('> begin now');
  terminal.type('first line');
  await terminal.sees('first line');
  terminal.press('C-g');
  const editing = await terminal.sees('rights 600');
  expect(editing).toContain('editing: first line');
  expect(editing).not.toContain('/help');
  // Ctrl+C is the editor's.
  terminal.press('C-c');
  await terminal.sees('interrupted');
  terminal.type('second line');
  terminal.press('Enter', 'Enter');
  expect(await terminal.sees('The first answer.')).toMatch(/^first line\nsecond line$/m);
  expect(readdirSync(sandbox.root).filter((name) => name.startsWith('muster-'))).toEqual([]);
  terminal.press('Enter');
  await terminal.sees('Both lines arrived.');
  terminal.press('C-c', 'C-c');
  await terminal.sees('exit 0');
});

inTerminal.each([
  ['', 'no editor is set: export EDITOR=nano, or VISUAL, and start again'],
  ['no-such-editor --wait', 'the editor was not found: no-such-editor'],
  ['sh -c "exit 3"', 'ended with exit code 3; nothing was taken'],
])('an editor %j that fails loses nothing', async (editor, hint) => {
  await using world = await openWorld();
  const env = { ...world.model.env('anthropic'), VISUAL: '', EDITOR: editor };
  using terminal = new TmuxTerminal(world.sandbox, [], { env, size: [120, 24] });
  await terminal.sees('/help');
  terminal.type('keep this');
  await terminal.sees('keep this');
  terminal.press('C-g');
  expect(await terminal.sees(hint)).toMatch(/^keep this$/m);
});

inTerminal('a line that starts with # becomes a note in the context file', async () => {
  await using world = await openWorld({
    files: { '.git/HEAD': '', 'CLAUDE.md': '# Rules' },
  });
  const { sandbox, model } = world;
  const env = model.env('anthropic');
  using terminal = new TmuxTerminal(sandbox, [], { env, size: [120, 24] });
  await terminal.sees('/help');
  terminal.type('# use tabs');
  terminal.press('Enter');
  await terminal.sees('Where should this be kept?');
  terminal.press('Enter');
  await terminal.sees('CLAUDE.md; new conversations and subagents read it');
  const path = join(sandbox.workspace, 'CLAUDE.md');
  expect(readFileSync(path, 'utf8')).toBe('# Rules\n- use tabs\n');
  // A project cannot lead a note to another file of the user.
  const other = join(sandbox.root, 'other');
  writeFileSync(other, 'mine');
  symlinkSync(other, join(sandbox.workspace, 'AGENTS.md'));
  terminal.type('# and this');
  terminal.press('Enter');
  await terminal.sees('Where should this be kept?');
  terminal.press('Enter');
  await terminal.sees('AGENTS.md');
  terminal.press('C-c', 'C-c');
  await terminal.sees('exit 0');
  expect(readFileSync(other, 'utf8')).toBe('mine');
  expect(model.requests).toEqual([]);
});
