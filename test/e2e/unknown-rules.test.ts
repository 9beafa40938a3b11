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

  it('is one in the configuration, too, with file and line', async () => {
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

  it('is none where a server may give the tool later', async () => {
    await using world = await openWorld({ script: () => ({ text: 'done' }) });
    const run = await world.run([
      '-p',
      'go',
      '--deny',
      'mcp__github__push',
      '--allow',
      'mcp__docs__*',
    ]);
    expect([run.code, run.stderr]).toEqual([0, '']);
  });
});
