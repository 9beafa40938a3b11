import { describe, expect, it, test } from 'vitest';
import { COMMANDS } from '../../../src/front/tui/update/commands/command-table.ts';
import { FAMILIAR_NAMES } from '../../../src/front/tui/update/commands/familiar-names.ts';
import { OWN_COMMAND_NAMES } from '../../../src/protocol/own-commands.ts';
import { waitUntilPasses } from '../../wait-until-passes.ts';
import { Stage, type StageOptions } from './stage.ts';

const HOSTILE = '\u001B[2Jred\u202E';

function withCommands(options: StageOptions = {}): Stage {
  const stage = new Stage({ columns: 100, rows: 30, ...options });
  stage.slashCommands = [
    { name: 'git:commit', description: 'Write a commit', source: 'project, gemini' },
    {
      name: 'review',
      argumentHint: '[file]',
      description: `Review a file${HOSTILE}`,
      source: 'user, claude',
    },
    { name: 'tools:lint', description: 'Lint', source: 'plugin tools' },
    { name: 'weekly', description: 'Write the report', source: 'skill, user' },
  ];
  return stage;
}

/** Waits until the screen shows a text. */
async function expectOnScreen(stage: Stage, text: string): Promise<string> {
  let screen = '';
  await waitUntilPasses(async () => {
    screen = await stage.screen();
    expect(screen).toContain(text);
  });
  return screen;
}

test('the names that files cannot take are those of the own commands', () => {
  const own = [...COMMANDS.map(({ name }) => name), ...FAMILIAR_NAMES.keys()];
  expect([...OWN_COMMAND_NAMES].toSorted()).toEqual([...new Set(own)].toSorted());
});

describe('slash commands from files', () => {
  it('are completed beside the own commands, with where they come from', async () => {
    await using stage = withCommands();
    await stage.emulator.type('/re');
    const screen = await expectOnScreen(stage, '/review');
    expect(screen).toMatch(/\/review +\[file\] Review a file.*\(user, claude\)/);
    expect(screen).toContain('/resume');
    expect(screen).not.toContain('\u202E');
  });

  it('with a namespace are completed by its name', async () => {
    await using stage = withCommands();
    await stage.emulator.type('/git:');
    expect(await expectOnScreen(stage, 'git:commit')).toContain('(project, gemini)');
  });

  it('are in the help, with the skills', async () => {
    await using stage = withCommands({ rows: 120 });
    await stage.say('/help');
    const screen = await expectOnScreen(stage, 'Commands from files and skills');
    expect(screen).toMatch(/\/weekly +Write the report \(skill, user\)/);
    expect(screen).toMatch(/\/tools:lint +Lint \(plugin tools\)/);
  });

  it('are sent as a message with what belongs to them', async () => {
    await using stage = withCommands();
    await stage.say('/review src/a.ts');
    await waitUntilPasses(() => expect(stage.asked.begun).toEqual(['/review src/a.ts']));
    expect(stage.asked.enclosed).toEqual([
      { words: '/review src/a.ts', outputs: [], images: [], to: null },
    ]);
  });

  it('do not take the place of an own command, and an unknown name is no message', async () => {
    await using stage = withCommands();
    stage.slashCommands = [{ name: 'user:usage', description: 'Mine', source: 'user' }];
    await stage.say('/usage');
    await expectOnScreen(stage, 'Usage of this conversation');
    await stage.say('/wekly');
    await expectOnScreen(stage, '/wekly is not a command');
    expect(stage.asked.enclosed).toEqual([]);
  });
});
