import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../../src/base/errors.ts';
import { agentText, makeWorld } from './agents-world.ts';
import { TASK_VARIABLE } from '../../../../src/sys/processes/command-environment.ts';

const REVIEWER = agentText(
  'name: reviewer',
  'description: Reviews code for bugs',
  'tools: Read, Write',
);

async function failure(running: Promise<unknown>): Promise<string> {
  try {
    await running;
  } catch (thrown) {
    if (thrown instanceof UsageError) return thrown.message;
    throw thrown;
  }
  throw new Error('it went through');
}

describe('agents list', () => {
  it('prints two lines for each agent, the agents that it replaces, and the skipped files in groups', async () => {
    const { run } = makeWorld(
      {
        '.claude/agents/a.md': 'Notes.',
        '.claude/agents/b.md': 'Notes.',
        '.claude/agents/explore.md': agentText('name: Explore', 'description: Mine', 'x: 1'),
        '.github/readme.md': '',
      },
      {
        '.claude/agents/reviewer.md': agentText(
          'name: reviewer',
          `description: Reviews ${'very '.repeat(40)}long`,
          'permissionMode: acceptEdits',
          'model: opus',
        ),
        '.config/muster/agents/reviewer.md': REVIEWER,
      },
    );
    const { out } = await run('list', '--trust-project');
    expect(out.split('\n').slice(0, 6)).toEqual([
      'reviewer         user · default · in the place of ~/.claude/agents/reviewer.md',
      '    Reviews code for bugs',
      'Explore          project, claude · default · in the place of the built-in one · 1 warning',
      '    Mine',
      'Plan             built in · plan',
      '    Returns a step-by-step plan for a change, read-only. For work that spans se…',
    ]);
    expect(out.split('\n').slice(-3)).toEqual([
      'skipped 2 files (.claude/agents/a.md, .claude/agents/b.md): There is no front matter. Begin the file with `---`, `name:` and `description:` lines, and `---`.',
      '7 agents; 2 not used, because another agent has the same name (--verbose); 1 with warnings (muster agents check)',
      '',
    ]);
  });

  it('shows everything with --verbose', async () => {
    const { run } = makeWorld(
      {},
      {
        '.claude/agents/reviewer.md': agentText(
          'name: reviewer',
          'description: Reviews',
          'permissionMode: acceptEdits',
          'maxTurns: 3',
          'disallowedTools: Bash',
          'x: 1',
        ),
        '.config/muster/agents/r.md': REVIEWER,
      },
    );
    const { out } = await run('list', '--verbose');
    const shadowed = out.split('\n\n').at(-1) ?? '';
    expect(shadowed.split('\n')).toEqual(
      [
        'reviewer  [not used: ~/.config/muster/agents/r.md]',
        '  Reviews',
        '  ~/.claude/agents/reviewer.md (user, claude)',
        '  default (asks for acceptEdits) · inherit · 3 turns',
        '  tools: the core set; never Bash',
        '  ! line 7: Unknown fields: x.',
        '7 agents; 2 not used, because another agent has the same name; 1 with warnings (muster agents check)',
        '',
      ].map((line) => line.replace('2 not used', '1 not used')),
    );
  });

  it('lists the files of any directory, and prints hostile names safely', async () => {
    const { run } = makeWorld({
      'x/.gemini/a.md': agentText('name: "a\\e[2J\\u202e"', 'description: "d\\r\\nx"'),
    });
    const { out } = await run('list', '--dir', 'x');
    expect(out).toMatch(/^a.*⟨U\+202E⟩ \(a\) +\.gemini\/a\.md, \w+ · default\n {4}d x\n1 agent\n$/);
    // oxlint-disable-next-line no-control-regex -- finding control characters is the purpose
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  it('is no wider than 80 columns for 200 agents with long names, models and descriptions', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [
        `.claude/agents/a${index}.md`,
        agentText(
          `name: ${'n'.repeat(index % 30)}${index}`,
          `description: ${'Reviews 变更 when asked. '.repeat(index)}`,
          'model: claude-sonnet-4-5',
        ),
      ]),
    );
    const { out } = await makeWorld({}, files).run('list');
    const lines = out.split('\n');
    expect(lines.length).toBe(2 * 206 + 2);
    expect(lines.filter((line) => [...line].length > 80)).toEqual([]);
  });

  it('reads which files are trusted from the given data directory', async () => {
    const { run, place } = makeWorld({ '.muster/agents/r.md': REVIEWER });
    const inside = await run('list', '--data-dir', join(place.cwd, 'data'));
    expect(inside.err).toMatch(/^muster: nothing of this project is trusted: the data directory/);
  });
});

describe('agents show', () => {
  it('prints a complete definition with its prompt', async () => {
    const { run } = makeWorld(
      {},
      {
        '.claude/agents/r.md': agentText(
          'name: reviewer',
          'description: Reviews',
          'tools: Read, Task(Explore), Foo',
          'skills: a, b',
          'effort: high',
          'background: true',
          'permissionMode: dontAsk',
          'hooks: {Stop: [], PreToolUse: []}',
          'initialPrompt: Begin.',
        ),
      },
    );
    const { out } = await run('show', 'REVIEWER');
    expect(out.split('\n')).toEqual([
      'name          reviewer',
      'file          ~/.claude/agents/r.md (user, claude)',
      'tools         Read, Task',
      'delegates to  Explore',
      'model         inherit',
      'effort        high',
      'mode          default (asks for dontAsk)',
      'asks          nobody: calls that would ask are refused',
      'background    unless a call says otherwise',
      'skills        a, b',
      'hooks         Stop, PreToolUse',
      'warning       line 4: Unknown tool `Foo`; it is left out.',
      '',
      'description:',
      '  Reviews',
      '',
      'first message:',
      '  Begin.',
      '',
      'prompt:',
      '  You are one of them.',
      '',
    ]);
    const json = JSON.parse((await run('show', 'reviewer', '--json')).out);
    expect(json).toMatchObject({ name: 'reviewer', prompt: 'You are one of them.', shadows: [] });
  });

  it('suggests the nearest name for an unknown agent, and reports untrusted files', async () => {
    const { run } = makeWorld({ '.muster/agents/r.md': REVIEWER });
    expect(await failure(run('show', 'Explor'))).toMatch(
      /^There is no agent `Explor`. Did you mean `Explore`\?.*\n1 file of this project was not used/,
    );
  });
});

describe('agents check', () => {
  it('finds nothing wrong with the built-in agents', async () => {
    const { run } = makeWorld();
    expect(await run('check', '--strict')).toEqual({
      code: 0,
      out: '6 agents checked, nothing found\n',
      err: '',
    });
  });

  it('checks untrusted files, and files that cannot be loaded', async () => {
    const { run } = makeWorld({
      '.muster/agents/r.md': REVIEWER,
      '.claude/agents/b.md': '---\nname: x\n',
    });
    const { code, out } = await run('check');
    expect(code).toBe(1);
    expect(out.split('\n')).toEqual([
      '.claude/agents/b.md',
      '  error    line 1: The front matter is not closed. End it with a line `---`. [front-matter-unclosed]',
      '',
      '.muster/agents/r.md',
      '  warning  line 4: Its description says that it only looks at things, but its tools include Write. [too-wide-tools]',
      '           → List the tools that it needs, for example `tools: Read, Grep, Glob`, or write `permission-mode: plan`.',
      '',
      'note: 1 file (.muster/agents/r.md): It has no effect in this project. Not trusted yet. Look at it, then run `muster trust add`. [untrusted]',
      '',
      '7 agents checked: 1 error, 1 warning, 1 note',
      '',
    ]);
  });

  it('reports ignored fields, and lists a finding about many files once', async () => {
    const { run, place } = makeWorld(
      Object.fromEntries(
        ['a', 'b', 'c', 'd', 'e'].map((name) => [
          `.claude/agents/${name}.md`,
          agentText(
            `name: ${name}`,
            'description: Reviews code. Use after a change.',
            'tools: Read',
          ),
        ]),
      ),
    );
    symlinkSync('nowhere', join(place.cwd, '.claude/agents/gone.md'));
    symlinkSync('/etc/hosts', join(place.cwd, '.claude/agents/out.md'));
    const { code, out } = await run('check');
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      '.claude/agents/gone.md',
      expect.stringMatching(
        /^ {2}warning {2}It is skipped\. The link is broken.* \[broken-link\]$/,
      ),
      '',
      '.claude/agents/out.md',
      expect.stringMatching(/^ {2}warning {2}It is skipped\. A link out of .* \[link-outside\]$/),
      '',
      'note: 5 files (.claude/agents/a.md, .claude/agents/b.md, .claude/agents/c.md and 2 more): It has no effect in this project. Not trusted yet. Look at it, then run `muster trust add`. [untrusted]',
      '',
      '11 agents checked: 0 errors, 2 warnings, 5 notes',
      '',
    ]);
  });

  it('checks only the named agents and files, and fails for warnings with --strict', async () => {
    const { run } = makeWorld({ 'x/r.md': REVIEWER });
    const codes = [];
    for (const argv of [['x/r.md'], ['x/r.md', '--strict'], ['Explore', '--strict'], ['no.md']]) {
      codes.push((await run('check', ...argv)).code);
    }
    expect(codes).toEqual([0, 1, 0, 1]);
    expect((await run('check', 'x/r.md', 'Plan')).out).toMatch(/2 agents checked/);
    expect(await failure(run('check', 'nobody'))).toMatch(/^There is no agent `nobody`/);
  });

  it('finds a secret and never prints it', async () => {
    const key = `sk-ant-${'a1'.repeat(20)}`;
    const { run } = makeWorld({ 'x/r.md': REVIEWER.replace('You', key) });
    const { code, out } = await run('check', '--dir', 'x', '--json');
    const { ok, agents, findings } = JSON.parse(out);
    expect([code, ok, agents]).toEqual([1, false, 1]);
    expect(findings.find((each: { code: string }) => each.code === 'secret')).toMatchObject({
      severity: 'error',
      line: 7,
      agent: 'reviewer',
    });
    expect(out).not.toContain(key);
  });
});

describe('agents import', () => {
  const FOREIGN = agentText(
    'name: Rust Expert',
    'description: Writes Rust. Use for *.rs files.',
    'permissionMode: dontAsk',
    'custom: {a: 1}',
  );

  it('writes a file into the project, and reports what was left out and the next step', async () => {
    const { run, file } = makeWorld({ '.claude/agents/r.md': FOREIGN });
    expect((await run('import', '.claude/agents/r.md')).out.split('\n')).toEqual([
      'Rust Expert: .muster/agents/rust-expert.md (from .claude/agents/r.md, claude)',
      '  left out, because it does nothing in Muster: custom',
      'Files of a project take effect once they are trusted: muster trust add .muster/agents/rust-expert.md',
      '',
    ]);
    expect(file('.muster/agents/rust-expert.md')).toBe(
      agentText(
        'name: Rust Expert',
        'description: Writes Rust. Use for *.rs files.',
        'permission-mode: manual',
        'refuses-questions: true',
      ),
    );
  });

  it('replaces a file only with --force', async () => {
    const { run, file } = makeWorld({
      'x/r.md': FOREIGN,
      'y/s.md': REVIEWER,
      '.muster/agents/rust-expert.md': 'mine',
    });
    expect(await failure(run('import', 'y/s.md', 'x/r.md'))).toMatch(
      /rust-expert\.md already exists; --force replaces it$/,
    );
    expect(file('.muster/agents/rust-expert.md')).toBe('mine');
    expect(() => file('.muster/agents/reviewer.md')).toThrow('ENOENT');
    await run('import', 'x/r.md', '--force');
    expect(file('.muster/agents/rust-expert.md')).toMatch(/^---\nname: Rust Expert\n/);
  });

  it('imports a built-in agent under another name, and all agents of a directory', async () => {
    const { run, place } = makeWorld({ 'x/a.md': FOREIGN, 'x/b/c.md': REVIEWER });
    await run('import', 'Explore', '--name', 'mine', '--to', 'user');
    const path = join(place.home, '.config/muster/agents/mine.md');
    expect(readFileSync(path, 'utf8')).toMatch(/^---\nname: mine\ndescription: Finds/);
    const { out } = await run('import', '--dir', 'x', '--to', 'out', '--json');
    const { imported } = JSON.parse(out);
    expect(imported).toMatchObject([
      { name: 'Rust Expert', path: join(place.cwd, 'out/rust-expert.md'), scope: null },
      { name: 'reviewer', path: join(place.cwd, 'out/reviewer.md'), scope: null },
    ]);
  });

  it.each<[string, readonly string[], RegExp]>([
    ['nothing named', [], /^nothing to import: name files or agents/],
    [
      'one name for several',
      ['x/a.md', 'x/b.md', '--name', 'n'],
      /^--name can only be used with one agent/,
    ],
    ['two of one name', ['x/a.md', 'x/c.md'], /would all be written to .*rust-expert\.md/],
    ['no tools', ['x/unusable.md'], /cannot be imported: None of the tools/],
    ['no agent', ['x/text.md'], /There is no front matter/],
    ['no file', ['x/no.md'], /no\.md: There is no such file\.$/],
    ['a directory', ['./x'], /x is a directory: use --dir .*x for all agents below it$/],
    ['no directory', ['x/a.md', '--to', 'x/b.md/y'], /^--to .*: cannot be created/],
  ])('is refused with %s', async (_, argv, message) => {
    const { run, place } = makeWorld({
      'x/a.md': FOREIGN,
      'x/b.md': REVIEWER,
      'x/c.md': FOREIGN,
      'x/text.md': 'Text.',
      'x/unusable.md': agentText('name: u', 'description: Does', 'tools: Foo'),
    });
    expect(await failure(run('import', ...argv))).toMatch(message);
    expect(existsSync(join(place.cwd, '.muster'))).toBe(false);
  });

  it('follows no link out of the project', async () => {
    const { run, place } = makeWorld({ 'x/a.md': FOREIGN });
    const outside = join(place.root, 'outside');
    mkdirSync(outside);
    mkdirSync(join(place.cwd, '.muster'));
    symlinkSync(outside, join(place.cwd, '.muster/agents'));
    await expect(run('import', 'x/a.md')).rejects.toThrow(/outside/);
    expect(existsSync(join(outside, 'rust-expert.md'))).toBe(false);
  });

  it("does not write the user's own agents for an agent", async () => {
    const { run, environment } = makeWorld({ 'x/a.md': FOREIGN });
    environment[TASK_VARIABLE] = 'abc';
    for (const to of ['user', '../home/.claude/agents']) {
      expect(await failure(run('import', 'x/a.md', '--to', to))).toMatch(
        /^an agent must not write/,
      );
    }
    expect((await run('import', 'x/a.md')).code).toBe(0);
  });
});

describe('agents new', () => {
  const FLAGS = ['--description', 'Reviews migrations after a change', '--prompt', 'Look.'];
  const COPY = ['new', 'a', '--from', 'Explore'];

  it('writes a file that passes the check', async () => {
    const { run, file } = makeWorld();
    const argv = ['new', 'Migration Reviewer', ...FLAGS, '--tools', 'read_file, Grep'];
    expect((await run(...argv, '--model', 'fast', '--mode', 'plan')).out.split('\n')).toEqual([
      'Migration Reviewer: .muster/agents/migration-reviewer.md',
      'Files of a project take effect once they are trusted: muster trust add .muster/agents/migration-reviewer.md',
      '',
    ]);
    expect(file('.muster/agents/migration-reviewer.md')).toBe(
      [
        '---',
        'name: Migration Reviewer',
        'description: Reviews migrations after a change',
        'tools: Read, Grep',
        'model: fast',
        'permission-mode: plan',
        '---',
        '',
        'Look.',
        '',
      ].join('\n'),
    );
    const { code } = await run('check', '.muster/agents/migration-reviewer.md', '--strict');
    expect(code).toBe(0);
  });

  it('copies another agent', async () => {
    const { run, file } = makeWorld();
    await run('new', 'mine', '--from', 'explore', '--tools', 'Read');
    expect(file('.muster/agents/mine.md')).toMatch(
      /^---\nname: mine\ndescription: Finds .*\ntools: Read\nmodel: fast\npermission-mode: plan\nmax-turns: 30\ncontext-files: false\n---\n\nYou find out/,
    );
  });

  it('copies an example', async () => {
    const { run, file } = makeWorld();
    await run('new', 'digger', '--from', 'DeepResearch');
    expect(file('.muster/agents/digger.md')).toMatch(/^---\nname: digger\ndescription: Answers .*/);
    expect((await run('check', '.muster/agents/digger.md', '--strict')).code).toBe(0);
  });

  it('asks at a terminal for what no flag says', async () => {
    const answers = ['', 'asked', 'Reviews migrations after a change', 'Read', '', 'Look.'];
    const { run, file, asked } = makeWorld({}, {}, answers);
    await run('new', '--mode', 'plan');
    expect(file('.muster/agents/asked.md')).toMatch(/\ntools: Read\npermission-mode: plan\n---/);
    expect(asked.map((question) => question.split(/[ ,:]/)[0])).toEqual([
      'Name',
      'Name',
      'What',
      'Tools',
      'Model',
      'Its',
      'closed',
    ]);
  });

  it.each<[string, readonly string[], RegExp]>([
    ['without a terminal', ['new'], /^a new agent needs NAME, --description, --prompt or/],
    ['with an unknown tool', ['new', 'a', ...FLAGS, '--tools', 'Gerp'], /^Unknown tool `Gerp`/m],
    ['with an unknown mode', ['new', 'a', ...FLAGS, '--mode', 'yolo'], /is not a permission mode/],
    [
      'with a vague description',
      ['new', 'a', '--description', 'Rust', '--prompt', 'x'],
      /^The description is too vague: it is very short/,
    ],
    [
      'with a file that is not there',
      ['new', 'a', '--prompt-file', 'no'],
      /^--prompt-file .*no does not exist$/,
    ],
    [
      'with a device',
      ['new', 'a', '--prompt-file', '/dev/zero'],
      /\/dev\/zero is a device, and not a file$/,
    ],
    [
      'in a place that takes none',
      [...COPY, '--to', '/proc/agents'],
      /^--to .*: cannot be created /,
    ],
    ['in a file', [...COPY, '--to', '/dev/null/a'], /^--to .*: cannot be created /],
    ['from nobody', ['new', 'a', '--from', 'Explor'], /Did you mean `Explore`/],
  ])('is refused %s, and writes nothing', async (_, argv, message) => {
    const { run, place } = makeWorld();
    expect(await failure(run(...argv))).toMatch(message);
    expect(existsSync(join(place.cwd, '.muster'))).toBe(false);
  });

  it('writes nothing when the questions are not answered', async () => {
    const { run, asked } = makeWorld({}, {}, ['a', null]);
    expect(await failure(run('new'))).toMatch(/^nothing was written/);
    expect(asked.at(-1)).toBe('closed');
  });

  it('reads the prompt from a file', async () => {
    const { run, file, place } = makeWorld();
    writeFileSync(join(place.cwd, 'p.md'), 'Look\n\nwell.\n');
    await run('new', 'a', '--description', FLAGS[1] ?? '', '--prompt-file', 'p.md', '--to', 'x');
    expect(file('x/a.md')).toMatch(/---\n\nLook\n\nwell\.\n$/);
  });
});
