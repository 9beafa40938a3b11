import { describe, expect, it } from 'vitest';
import { CLI_COMMANDS } from '../../../../src/front/cli/commands.ts';
import { parseCommandLine } from '../../../../src/front/cli/parse.ts';
import { Machine, type Texts } from '../../../plugins/support.ts';

const KIT: Texts = {
  '.claude-plugin/plugin.json': { name: 'kit', description: 'Clears\u001B[2J the screen.' },
  'hooks/hooks.json': {
    hooks: {
      Stop: [{ hooks: [{ type: 'command', command: 'echo "\u001B]0;x\u0007" # \u202Eevil' }] }],
    },
  },
};

/** Runs a command line of plugins and returns what it printed, what it asked, and its exit code. */
async function run(machine: Machine, args: readonly string[], answer: boolean | null = null) {
  const commands = () => Promise.resolve(CLI_COMMANDS);
  const parsed = await parseCommandLine(['plugin', ...args, '--data-dir', machine.data], commands);
  if (parsed === 'version') throw new Error('the version was asked for');
  const { environment, home, cwd } = machine.state;
  const printed: string[] = [];
  const asked: string[] = [];
  const code = await parsed.command.run(parsed.options, {
    out: (text) => void printed.push(text),
    err: (text) => void printed.push(text),
    environment,
    home,
    cwd,
    confirm:
      answer === null
        ? null
        : (question) => {
            asked.push(question);
            return Promise.resolve(answer);
          },
    questions: null,
    secret: null,
    commands,
    help: async () => '',
  });
  return { code, printed: printed.join(''), asked };
}

describe('muster plugin install', () => {
  it('asks, and installs nothing after no', async () => {
    using machine = new Machine();
    const source = machine.write('kit', KIT);
    const refused = await run(machine, ['install', source], false);
    expect([refused.code, refused.asked]).toEqual([
      1,
      ['Install kit@direct with exactly these files? [y/N] '],
    ]);
    expect(refused.printed).toMatch(/\n\nNothing was installed\.\n$/);
    expect((await run(machine, ['list'])).printed).toContain('No plugin is installed.');
  });

  it('installs after yes, and an update asks again', async () => {
    using machine = new Machine();
    const source = machine.write('kit', KIT);
    const installed = await run(machine, ['install', source], true);
    expect([installed.code, installed.printed.split('\n').at(-2)]).toEqual([
      0,
      'Installed kit@direct. Its agents and skills have names of the form kit:NAME.',
    ]);
    machine.write('kit', { 'note.txt': 'new' });
    const refused = await run(machine, ['update', 'kit'], false);
    expect([refused.code, refused.asked.length, refused.printed.split('\n').at(-2)]).toEqual([
      1,
      1,
      'Nothing was installed. The approved version of kit@direct stays.',
    ]);
    expect(refused.printed).toContain('  added file: note.txt\n');
    const updated = await run(machine, ['update', 'kit'], true);
    expect([updated.code, updated.printed.split('\n').at(-2)]).toEqual([0, 'Updated kit@direct.']);
  });

  it('shows nothing that a terminal would interpret', async () => {
    using machine = new Machine();
    const { printed } = await run(machine, ['install', machine.write('kit', KIT)], false);
    expect(printed.replaceAll('\n', '')).not.toMatch(/\p{C}/u);
    expect(printed).toContain('Clears⟨U+001B⟩[2J the screen.\n');
    expect(printed).toContain(
      '  hook Stop: runs in the sandbox echo "⟨U+001B⟩]0;x⟨U+0007⟩" # ⟨U+202E⟩evil\n',
    );
  });

  it('needs a hash after --approve', async () => {
    using machine = new Machine();
    await expect(run(machine, ['install', 'kit', '--approve', 'yes'])).rejects.toThrow(
      '--approve needs the hash that the review shows: at least 12 characters of 0-9 and a-f',
    );
  });
});

describe('muster plugin marketplace', () => {
  it('lists marketplaces and their plugins, and forgets them', async () => {
    using machine = new Machine();
    const source = machine.write('market', {
      '.claude-plugin/marketplace.json': {
        name: 'team',
        plugins: [
          { name: 'kit', version: '1.0.0', description: 'Helps.', source: './kit' },
          { name: 'odd', source: 1 },
        ],
      },
    });
    const added = await run(machine, ['marketplace', 'add', source]);
    expect(added.printed).toBe(
      'muster: .claude-plugin/marketplace.json: plugins[1].source: it must be a path or an object; odd cannot be installed\n' +
        `Added the marketplace team with 2 plugins from ${source}.\nSee them: muster plugin marketplace list team\n`,
    );
    const list = await run(machine, ['marketplace', 'list', 'team']);
    expect(list.printed.split('\n').slice(1)).toEqual([
      'kit  1.0.0  Helps.',
      'odd         cannot be installed',
      '',
    ]);
    const update = await run(machine, ['marketplace', 'update', 'team', '--json']);
    expect(JSON.parse(update.printed)).toMatchObject({ name: 'team', source, commit: null });
    await run(machine, ['marketplace', 'remove', 'team']);
    expect((await run(machine, ['marketplace', 'list'])).printed).toBe(
      'There is no marketplace. Add one: muster plugin marketplace add\n',
    );
    await expect(run(machine, ['install', 'kit@team'])).rejects.toThrow(
      'there is no marketplace team',
    );
  });
});
