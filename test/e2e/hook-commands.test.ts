import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { needs } from '../needs.ts';
import { envelopeOf } from './muster.ts';
import { bash, callsInTurn, openWorld, type World } from './world.ts';

const HAS_BUBBLEWRAP = process.platform === 'linux' && needs('bwrap', 'bubblewrap');

function write(path: string, value: unknown): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(value));
}

function writeText(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function skill(name: string) {
  return { name: 'Skill', input: { skill: name } };
}

function command(line: string, matcher = ''): readonly JsonObject[] {
  return [{ matcher, hooks: [{ type: 'command', command: line }] }];
}

/** The user's settings file of Claude Code. */
const settings = ({ sandbox }: World) => join(sandbox.home, '.claude/settings.json');
const inHome = ({ sandbox }: World, text: string) => text.replaceAll(sandbox.home, '~');

describe.concurrent('muster hooks', () => {
  it('list names each hook, its file, and what has no effect', async () => {
    await using world = await openWorld({ script: [] });
    const { workspace } = world.sandbox;
    write(settings(world), {
      hooks: {
        PreToolUse: command('./guard.sh', 'Bash'),
        PostToolUse: [
          { hooks: [{ type: 'http', url: 'https://x.dev/a', timeout: 5, once: true }] },
        ],
        Sop: [],
      },
    });
    write(join(workspace, '.claude/settings.json'), { hooks: { Stop: command('evil') } });
    const run = await world.run(['hooks', 'list']);
    expect([run.code, inHome(world, run.stdout).replaceAll(workspace, '.')]).toEqual([
      0,
      `PreToolUse (Bash)  ./guard.sh  (600 s, user: ~/.claude/settings.json)
PostToolUse  POST https://x.dev/a  (once, 5 s, user: ~/.claude/settings.json)
! ./.claude/settings.json has hooks that do not run, because you have not trusted it: muster trust add
! ~/.claude/settings.json: hooks.Sop: is not an event, so its hooks are not run
`,
    ]);
  });

  it('list names the hooks of agents and skills, and their files', async () => {
    await using world = await openWorld({ script: [] });
    const { home, workspace } = world.sandbox;
    const hooks = (event: string, line: string) =>
      `hooks:\n  ${event}:\n    - hooks: [{type: command, command: ${line}}]\n`;
    writeText(
      join(home, '.claude/agents/worker.md'),
      `---\nname: worker\ndescription: Works.\n${hooks('Stop', './check.sh')}  Sop: []\n---\nWork.\n`,
    );
    writeText(
      join(home, '.claude/skills/look/SKILL.md'),
      `---\nname: look\ndescription: Looks.\n${hooks('PreToolUse', './look.sh')}---\nLook.\n`,
    );
    writeText(
      join(workspace, '.claude/agents/evil.md'),
      `---\nname: evil\ndescription: Evil.\n${hooks('Stop', './evil.sh')}---\nDo.\n`,
    );
    const run = await world.run(['hooks', 'list']);
    expect([run.code, inHome(world, run.stdout)]).toEqual([
      0,
      `Stop  ./check.sh  (600 s, agent: ~/.claude/agents/worker.md)
PreToolUse  ./look.sh  (600 s, skill: ~/.claude/skills/look/SKILL.md)
! ~/.claude/agents/worker.md: hooks.Sop: is not an event, so its hooks are not run
`,
    ]);
    const tried = await world.run(['hooks', 'test', 'SubagentStop', 'worker']);
    expect(inHome(world, tried.stdout)).toContain('runs ./check.sh (~/.claude/agents/worker.md)');
    expect((await world.run(['hooks', 'test', 'Stop'])).stdout).toBe('Stop: no hook\n');
  });

  it('test runs the hooks of an event and shows what they say', async () => {
    await using world = await openWorld({ script: [] });
    write(settings(world), {
      hooks: {
        PreToolUse: command('grep -q "rm -r" && { echo "no rm" >&2; exit 2; }; exit 0', 'Bash'),
      },
    });
    const refused = await world.run([
      'hooks',
      'test',
      'PreToolUse',
      'Bash',
      '{"command":"rm -r x"}',
      '--json',
    ]);
    expect(JSON.parse(refused.stdout)).toMatchObject([
      {
        occasion: { event: 'PreToolUse', matched: 'Bash' },
        task: null,
        hooks: [{ where: settings(world) }],
        outcome: { verdict: { verdict: 'deny', reason: 'no rm' } },
      },
    ]);
    const other = await world.run(['hooks', 'test', 'PreToolUse', 'Read']);
    expect(other.stdout).toBe('PreToolUse (Read): no hook\n');
    const wrong = await world.run(['hooks', 'test', 'Sop']);
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringContaining('no hooks run at "Sop"; events: SessionStart, '),
    ]);
  });

  it('test compares the condition of a hook with the sample', async () => {
    await using world = await openWorld({ script: [] });
    const guard = (rule: string, line: string) => ({ type: 'command', command: line, if: rule });
    write(settings(world), {
      hooks: {
        PreToolUse: [
          { hooks: [guard('Bash(rm *)', 'exit 2'), guard('Edit(src/**)', 'exit 2 #edit')] },
        ],
      },
    });
    const test = async (tool: string, input: JsonObject) =>
      (await world.run(['hooks', 'test', 'PreToolUse', tool, JSON.stringify(input)])).stdout;
    expect(await test('Bash', { command: 'ls' })).toBe('PreToolUse (Bash): no hook\n');
    expect(await test('Bash', { command: 'ls; rm x' })).toContain('runs exit 2 (');
    const file = { content: '' };
    expect(await test('Write', { ...file, file_path: 'src/a.ts' })).toContain('runs exit 2 #edit');
    expect(await test('Write', { ...file, file_path: 'a.ts' })).toContain('no hook');
    const list = await world.run(['hooks', 'list']);
    expect(list.stdout).toContain('PreToolUse (if Bash(rm *))  exit 2  (');
  });

  it.skipIf(!HAS_BUBBLEWRAP)(
    'test --replay shows what hooks would have said, without effects',
    async () => {
      await using world = await openWorld({ script: callsInTurn([bash('echo one')]) });
      const ran = await world.run([
        '-p',
        'go',
        '--permission-mode',
        'autonomous',
        '--output-format',
        'json',
      ]);
      const { task_id: id } = envelopeOf(ran).data;
      const mark = join(world.sandbox.workspace, 'mark');
      write(settings(world), {
        hooks: {
          PreToolUse: command(`touch ${mark}; echo "no echo" >&2; exit 2`, 'Bash'),
          PostToolUse: command('cat', 'Write'),
          Stop: [{ hooks: [{ type: 'http', url: 'http://127.0.0.1:9/' }] }],
        },
      });
      const run = await world.run(['hooks', 'test', '--replay', id, '--json']);
      expect(run.code).toBe(0);
      expect(JSON.parse(run.stdout)).toMatchObject([
        {
          occasion: { event: 'PreToolUse', matched: 'Bash' },
          task: { id, agentType: 'main' },
          outcome: { verdict: { verdict: 'deny', reason: expect.stringContaining('no echo') } },
        },
        {
          occasion: { event: 'Stop', matched: null },
          outcome: { records: [{ message: expect.stringContaining('sends nothing') }] },
        },
      ]);
      expect(existsSync(mark)).toBe(false);
    },
  );

  it.skipIf(!HAS_BUBBLEWRAP)(
    'test --replay runs the hooks of the agents and skills that a task had',
    async () => {
      await using world = await openWorld({
        files: { 'a.txt': 'a' },
        script: callsInTurn([bash('echo one')], [skill('look')], [bash('echo two')]),
      });
      const { home } = world.sandbox;
      const look = join(home, '.claude/skills/look/SKILL.md');
      const text = (front: string) => `---\nname: look\ndescription: Looks.\n${front}---\nLook.\n`;
      writeText(look, text(''));
      const ran = await world.run([
        '-p',
        'go',
        '--permission-mode',
        'autonomous',
        '--output-format',
        'json',
      ]);
      const { task_id: id } = envelopeOf(ran).data;
      const guard = '{type: command, command: "echo no >&2; exit 2"}';
      writeText(look, text(`hooks:\n  PreToolUse:\n    - hooks: [${guard}]\n`));
      const run = await world.run(['hooks', 'test', '--replay', id, '--json']);
      expect(JSON.parse(run.stdout)).toMatchObject([
        {
          occasion: { event: 'PreToolUse', matched: 'Bash' },
          hooks: [{ where: look }],
          outcome: { verdict: { verdict: 'deny' } },
        },
      ]);
    },
  );

  it('import adds the hooks of other products once, and those of a project to its own file', async () => {
    await using world = await openWorld({ script: [] });
    const { home, workspace } = world.sandbox;
    write(join(home, '.gemini/settings.json'), {
      hooks: { BeforeTool: command('g', 'run_shell_command') },
    });
    write(join(home, '.cursor/hooks.json'), { hooks: { stop: [{ command: 'c' }] } });
    write(join(workspace, '.codex/hooks.json'), { hooks: { Stop: command('p') } });
    const own = join(home, '.config/muster/hooks.json');
    write(own, { hooks: { Stop: command('mine') } });
    const asked = await world.run(['hooks', 'import']);
    expect([asked.code, asked.stderr]).toEqual([
      2,
      'muster: there is no terminal to ask on; to add what is shown, add --yes\n',
    ]);
    const run = await world.run(['hooks', 'import', '--yes']);
    expect(inHome(world, run.stdout)).toBe(`Gemini CLI (~/.gemini/settings.json)
  PreToolUse (run_shell_command): g
  note: the scripts get the tools and arguments of Muster, such as Bash instead of run_shell_command: check what they compare
Cursor (~/.cursor/hooks.json)
  ! not imported: stop: its hooks read other fields and answer in another format: write them anew
Added 1 group of hooks to ~/.config/muster/hooks.json. Next: muster hooks list
`);
    const expected = {
      hooks: { Stop: command('mine'), PreToolUse: command('g', 'run_shell_command') },
    };
    expect(JSON.parse(readFileSync(own, 'utf8'))).toEqual(expected);
    expect((await world.run(['hooks', 'import', '--yes'])).stdout).toContain('Nothing is new.');
    expect(JSON.parse(readFileSync(own, 'utf8'))).toEqual(expected);
    await world.run(['hooks', 'import', '--project', '--yes']);
    const project = JSON.parse(readFileSync(join(workspace, '.muster/hooks.json'), 'utf8'));
    expect(project).toEqual({ hooks: { Stop: command('p') } });
    const listed = await world.run(['hooks', 'list']);
    expect(listed.stdout).toContain('.muster/hooks.json has hooks that do not run');
  });
});
