import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../../../src/base/errors.ts';
import { CLI_COMMANDS } from '../../../../src/front/cli/commands.ts';
import { parseCommandLine } from '../../../../src/front/cli/parse.ts';
import { agentText, Project } from '../../../trust/project.ts';
import { parse } from '../parse.ts';

const AGENT = '.claude/agents/tester.md';

interface Asking {
  readonly confirm?: ((question: string) => Promise<boolean>) | null;
  readonly environment?: Readonly<Record<string, string>>;
}

/** Runs a command line in a project and gives back what it printed, and its exit code. */
async function run(project: Project, args: readonly string[], asking: Asking = {}) {
  const commands = () => Promise.resolve(CLI_COMMANDS);
  const line = ['trust', ...args, '--data-dir', project.state];
  const parsed = await parseCommandLine(line, commands);
  if (parsed === 'version') throw new Error('the version was asked for');
  let printed = '';
  const code = await parsed.command.run(parsed.options, {
    out: (text) => void (printed += text),
    err: () => {},
    environment: asking.environment ?? {},
    home: project.home,
    cwd: project.repo,
    confirm: asking.confirm ?? null,
    questions: null,
    secret: null,
    commands,
    help: async () => '',
  });
  return { code, printed };
}

describe('muster trust', () => {
  const place = { json: false, cwd: null, dataDir: null };
  it.each([
    [['list'], { words: 'trust list', ...place }],
    [['add'], { words: 'trust add', ...place, paths: [], yes: false }],
    [
      ['add', 'a', 'b', '-y', '--cwd', 'c', '--json'],
      { words: 'trust add', ...place, json: true, cwd: 'c', paths: ['a', 'b'], yes: true },
    ],
    [['revoke', 'a', 'b'], { words: 'trust revoke', ...place, names: ['a', 'b'] }],
    [['revoke', '--all'], { words: 'trust revoke', ...place, names: null }],
  ])('%j', async (args, { words, ...options }) => {
    expect(await parse(['trust', ...args])).toEqual({ words, options });
  });

  it.each([[['revoke']], [['revoke', 'a', '--all']], [['list', 'x']], [['add', '--model', 'x']]])(
    '%j is a usage error',
    async (args) => {
      await expect(parse(['trust', ...args])).rejects.toThrow(UsageError);
    },
  );
});

describe('muster trust add', () => {
  it('shows the files, asks, and trusts them only after yes', async () => {
    using project = new Project({ [AGENT]: agentText('tester', 'tools: Bash') });
    const questions: string[] = [];
    const answer = (yes: boolean) => (question: string) => {
      questions.push(question);
      return Promise.resolve(yes);
    };
    const no = await run(project, ['add'], { confirm: answer(false) });
    expect(no).toEqual({
      code: 1,
      printed: expect.stringMatching(
        /^\.claude\/agents\/tester\.md \(agent, new, sha256 .{12}\)\n/,
      ),
    });
    expect(no.printed).toMatch(/^ {2}tools: Bash$[^]*^Nothing was trusted\.$/m);
    expect(await project.states()).toEqual([[AGENT, 'new']]);
    const yes = await run(project, ['add'], { confirm: answer(true) });
    expect([yes.code, yes.printed]).toEqual([0, expect.stringContaining('Trusted 1 file.')]);
    expect(questions[1]).toBe('Trust this file, with exactly this content? [y/N] ');
    const again = await run(project, ['add'], { confirm: answer(true) });
    expect(again).toEqual({ code: 0, printed: 'Nothing to trust that is not trusted already.\n' });
    expect(questions).toHaveLength(2);
  });

  it('trusts the content that it showed, not content that was written while it asked', async () => {
    using project = new Project({ [AGENT]: agentText('tester') });
    const confirm = (): Promise<boolean> => {
      project.write(AGENT, agentText('tester', 'tools: Bash'));
      return Promise.resolve(true);
    };
    await run(project, ['add'], { confirm });
    expect(await project.states()).toEqual([[AGENT, 'changed']]);
  });

  it('needs --yes without a terminal', async () => {
    using project = new Project({ [AGENT]: agentText('tester') });
    await expect(run(project, ['add'])).rejects.toThrow(/no terminal to ask on.*--yes/);
    await expect(run(project, ['add', '--json'])).rejects.toThrow(/--yes/);
    const { code, printed } = await run(project, ['add', '--yes', '--json']);
    expect([code, JSON.parse(printed)]).toMatchObject([
      0,
      { trusted: [{ kind: 'agent', was: 'new', problems: [] }], refused: [] },
    ]);
  });

  it('leaves out files that would keep Muster from starting', async () => {
    using project = new Project({ [AGENT]: agentText('tester'), '.muster/config.toml': 'a = = b' });
    const { code, printed } = await run(project, ['add', '--yes']);
    expect(code).toBe(1);
    expect(printed).toMatch(/cannot be trusted in this form: .*config\.toml:1:5: not valid TOML/);
    expect(printed).toContain('Trusted 1 file.');
  });

  it('names files that are too large, and fails if the user has named one of them', async () => {
    using project = new Project({ [AGENT]: agentText('tester'), '.mcp.json': ' '.repeat(1048577) });
    const reason = 'It has 1048577 bytes, and the limit is 1048576 bytes.';
    const named = await run(project, ['add', '.mcp.json', '--json', '--yes']);
    expect([named.code, JSON.parse(named.printed)]).toEqual([
      1,
      {
        trusted: [],
        refused: [
          {
            kind: 'mcp',
            path: join(project.repo, '.mcp.json'),
            sha256: null,
            was: 'unusable',
            grants: [],
            problems: [reason],
          },
        ],
      },
    ]);
    const all = await run(project, ['add', '--yes']);
    expect([all.code, all.printed]).toEqual([
      0,
      expect.stringContaining(`.mcp.json (mcp) cannot be trusted: ${reason}\n\nTrusted 1 file.`),
    ]);
  });

  it('is refused if an agent runs it', async () => {
    using project = new Project({ [AGENT]: agentText('tester') });
    const environment = { MUSTER_TASK: 'abc' };
    await expect(run(project, ['add', '--yes'], { environment })).rejects.toThrow(/an agent/);
  });
});

/** Anything that a terminal acts on, or that hides. */
const RAW = /[^\n\u0020-\u007e\u00a1-\u024f\u2026\u27e8\u27e9␍␈]/u;

describe('what is printed', () => {
  const EVIL = '\u001b]0;x\u0007\u001b[2J\r\u0008\u202e\u200b\u{e0041}\u009b31m';
  const files = {
    [`.claude/agents/a${EVIL.replaceAll('/', '')}\nTrusted 1 file..md`]: agentText(
      `"n${EVIL.replaceAll('\u001b', '\\e').replaceAll('\u0007', '\\a').replaceAll('\u0008', '\\b').replaceAll('\r', '\\r').replaceAll('\u009b', '\\x9b')}"`,
      `hooks: ${JSON.stringify(EVIL)}`,
    ),
    '.claude/settings.json': JSON.stringify({
      [EVIL]: 1,
      permissions: {
        allow: [`Bash(echo ${EVIL})`, `Bash(ok\u202e\u200b\u009b)`],
        defaultMode: EVIL,
      },
    }),
    '.muster/config.toml': `[permissions]\nallow = [${JSON.stringify(`Bash(a\u202e\u{e0041})`)}]\n`,
  };

  it.each([
    [['list']],
    [['list', '--json']],
    [['add', '--yes']],
    [['add', '--yes', '--json']],
    [['list']],
    [['revoke', '--all']],
    [['revoke', '--all', '--json']],
  ])('has no byte of a hostile file raw: %j', async (args) => {
    using project = new Project(files);
    if (args[0] === 'revoke') await project.add();
    const { printed } = await run(project, args);
    expect(printed.length).toBeGreaterThan(20);
    expect(RAW.exec(printed)).toBeNull();
    expect(printed.split('\n')).not.toContain('Trusted 1 file..md');
  });
});
