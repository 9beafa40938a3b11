import { describe, expect, it } from 'vitest';
import { openWorld } from './world.ts';

/** A rule that names no tool would leave allowed what it was to deny: nothing runs until it is mended. */
describe('a permission rule for a tool that does not exist', () => {
  it.each([
    ['--allow', 'Bsh(git:*)', 'Bash'],
    ['--deny', 'bash_tool', 'Bash'],
    ['--ask', 'Wrte', 'Write'],
  ])(
    '%s %s is an error that names where it stands and the nearest tool',
    async (flag, rule, near) => {
      await using world = await openWorld({ script: () => ({ text: 'never said' }) });
      const run = await world.run(['-p', 'go', flag, rule]);
      expect(run.code).toBe(2);
      expect(run.stderr).toContain(flag);
      expect(run.stderr).toMatch(new RegExp(`there is no tool .*did you mean ${near}\\?`));
      expect(world.model.requests).toEqual([]);
    },
  );

  it('is also reported in the configuration, with file and line', async () => {
    await using world = await openWorld({ script: () => ({ text: 'never said' }) });
    world.sandbox.write('.muster/config.toml', '[permissions]\ndeny = ["bash_tool"]\n');
    const run = await world.run(['-p', 'go', '--trust-project']);
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(/config\.toml:2.*there is no tool "bash_tool"; did you mean Bash\?/);
  });

  it('is a warning in settings of Claude Code, which takes any name', async () => {
    await using world = await openWorld({ script: () => ({ text: 'done' }) });
    const settings = { permissions: { deny: ['Bsh(git push:*)'] } };
    world.sandbox.write('.claude/settings.json', JSON.stringify(settings));
    const run = await world.run(['-p', 'go', '--trust-project']);
    expect(run.code).toBe(0);
    expect(run.stderr).toMatch(/settings\.json.*Bsh\(git push:\*\).*did you mean Bash\?/);
  });

  it('is a notice if no server is connected that could provide the tool', async () => {
    await using world = await openWorld({ script: () => ({ text: 'done' }) });
    const run = await world.run([
      '-p',
      'go',
      '--deny',
      'mcp__github__push',
      '--allow',
      'mcp__docs__*',
    ]);
    expect([run.code, run.stderr.split('\n').toSorted()]).toEqual([
      0,
      [
        '',
        'muster: --allow: rule "mcp__docs__*" has no effect: no MCP server "docs" is configured',
        'muster: --deny: rule "mcp__github__push" has no effect: no MCP server "github" is configured',
      ],
    ]);
  });
});

describe('a permission rule for an agent that does not exist', () => {
  it.each([
    ['--deny', 'Task(nosuch)', 'There is no agent `nosuch`.'],
    ['--ask', 'Task(explor)', 'There is no agent `explor`. Did you mean `Explore`?'],
  ])('is told at the start: %s %s', async (flag, rule, because) => {
    await using world = await openWorld({ script: () => ({ text: 'done' }) });
    const run = await world.run(['-p', 'go', flag, rule]);
    expect(run.code).toBe(0);
    expect(run.stderr).toContain(`${flag}: rule "${rule}" has no effect: ${because}`);
  });

  it('is reported with file and line if its name is similar to that of an agent', async () => {
    await using world = await openWorld({ script: () => ({ text: 'done' }) });
    const rules = '"Task(explor)", "Task(of-another-project)", "mcp__github"';
    world.sandbox.write('.muster/config.toml', `[permissions]\ndeny = [${rules}]\n`);
    const run = await world.run(['-p', 'go', '--trust-project']);
    expect(run.code).toBe(0);
    expect(run.stderr).toMatch(/config\.toml:2: rule "Task\(explor\)".*Did you mean `Explore`\?/);
    expect(run.stderr).not.toMatch(/another-project|mcp__/);
  });

  it.each(['Task(explore)', 'Task(Exp*)', 'Task(general_purpose)', 'Task(*)', 'Task'])(
    'is not reported for %s',
    async (rule) => {
      await using world = await openWorld({ script: () => ({ text: 'done' }) });
      const run = await world.run(['-p', 'go', '--deny', rule]);
      expect([run.code, run.stderr]).toEqual([0, '']);
    },
  );
});
