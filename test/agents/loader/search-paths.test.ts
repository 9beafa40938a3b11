import { AGENTS } from '../../../src/agents/kinds.ts';
import { discoverDefinitions } from '../../../src/agents/loader/discover.ts';
import type { DiscoveryResult } from '../../../src/agents/loader/discovery-result.ts';
import { scanSubtree } from '../../../src/agents/loader/subtree-scan.ts';
import type { AgentDefinition } from '../../../src/protocol/agent.ts';
import { symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  TRUST_ALL,
  TRUST_NOTHING,
  type ProjectTrust,
} from '../../../src/sys/files/project-file.ts';
import { agentFile, workTree } from '../support.ts';

let tree: ReturnType<typeof workTree>;
beforeEach(() => {
  tree = workTree({ 'repo/.git/HEAD': '', 'home/x': '' });
});
afterEach(() => tree.remove());

interface Options {
  readonly trust?: ProjectTrust;
  readonly environment?: Readonly<Record<string, string>>;
}

function discover({ trust = TRUST_ALL, environment = {} }: Options = {}): Promise<
  DiscoveryResult<AgentDefinition>
> {
  const all = { HOME: tree.path('home'), ...environment };
  return discoverDefinitions(AGENTS, { cwd: tree.path('repo'), environment: all, trust });
}

function found({ items: agents }: DiscoveryResult<AgentDefinition>): readonly string[] {
  return agents
    .filter(({ origin }) => origin.scope !== 'builtin')
    .map(({ name, origin }) => `${origin.scope} ${origin.vendor} ${name}`);
}

const markdown = (name: string): string => agentFile(`name: ${name}`, 'description: Does.');
const recipe = (title: string): string => `title: ${title}\ndescription: x\nprompt: Do.\n`;
const role = (name: string): string =>
  `name = "${name}"\ndescription = "x"\ndeveloper_instructions = "Do."\n`;

test('the locations of each vendor are searched, the project’s before the user’s', async () => {
  for (const [place, at] of [
    ['repo', 'p'],
    ['home', 'u'],
  ] as const) {
    tree.write(`${place}/.factory/droids/a.md`, markdown(`${at}-factory`));
    tree.write(`${place}/.kiro/agents/a.json`, JSON.stringify({ name: `${at}-kiro`, prompt: 'x' }));
    tree.write(`${place}/.codex/agents/deep/a.toml`, role(`${at}-codex`));
    tree.write(`${place}/.codex/config.toml`, `[agents.${at}-declared]\ndescription = "x"\n`);
  }
  tree.write('repo/.github/agents/a.agent.md', markdown('p-copilot'));
  tree.write('repo/.github/chatmodes/b.chatmode.md', markdown('p-mode'));
  tree.write('home/.copilot/agents/a.agent.md', markdown('u-copilot'));
  tree.write('repo/.goose/recipes/a.yaml', recipe('p-goose'));
  tree.write('home/.config/goose/recipes/a.yml', recipe('u-goose'));
  const result = await discover();
  expect(found(result)).toEqual([
    'project copilot p-copilot',
    'project copilot p-mode',
    'project factory p-factory',
    'project kiro p-kiro',
    'project codex p-codex',
    'project codex p-declared',
    'project goose p-goose',
    'user copilot u-copilot',
    'user factory u-factory',
    'user kiro u-kiro',
    'user codex u-codex',
    'user codex u-declared',
    'user goose u-goose',
  ]);
  expect([result.skipped, result.problems]).toEqual([[], []]);
});

describe('a directory from an environment variable', () => {
  test('belongs to the user if it is outside the project, and links in it are followed', async () => {
    tree.write('shared/recipes/a.yaml', recipe('shared'));
    tree.write('out.yaml', recipe('out'));
    symlinkSync(tree.path('out.yaml'), tree.path('shared/recipes/b.yaml'));
    tree.write('codex/agents/a.toml', role('elsewhere'));
    const environment = {
      GOOSE_RECIPE_PATH: `${tree.path('shared/recipes')}:relative`,
      CODEX_HOME: tree.path('codex'),
    };
    const result = await discover({ environment, trust: TRUST_NOTHING });
    expect(found(result)).toEqual(['user codex elsewhere', 'user goose shared', 'user goose out']);
    expect(result.skipped).toEqual([]);
  });

  test('belongs to the project if it is there, and must be trusted', async () => {
    tree.write('repo/recipes/a.yaml', recipe('mine'));
    const environment = { GOOSE_RECIPE_PATH: tree.path('repo/recipes') };
    const [trusted, untrusted] = [
      await discover({ environment }),
      await discover({ environment, trust: TRUST_NOTHING }),
    ];
    expect([found(trusted), found(untrusted)]).toEqual([['project goose mine'], []]);
    expect(untrusted.skipped.map(({ code }) => code)).toEqual(['untrusted']);
  });
});

describe('a prompt in a separate file', () => {
  const agent = (prompt: string): string =>
    JSON.stringify({ name: 'keeper', description: 'x', prompt });

  async function keeper(options?: Options) {
    const { items: agents } = await discover(options);
    return agents.find(({ name }) => name === 'keeper');
  }

  test('is used in a project only if that file is trusted, too', async () => {
    tree.write('repo/.kiro/agents/keeper.json', agent('file://./prompts/keeper.md'));
    tree.write('repo/.kiro/agents/prompts/keeper.md', 'Keep.');
    const asked: string[] = [];
    const only: ProjectTrust = {
      judge: ({ path }) => {
        asked.push(path.replace(`${tree.root}/`, ''));
        return { state: path.endsWith('.json') ? 'trusted' : 'new' };
      },
    };
    expect((await keeper())?.prompt).toBe('Keep.');
    expect(await keeper({ trust: only })).toMatchObject({
      prompt: '',
      unusable: expect.stringContaining('cannot be used: Not trusted yet.'),
    });
    expect(asked).toContain('repo/.kiro/agents/prompts/keeper.md');
  });

  test.each(['file://../../../secret.md', 'file:///etc/hostname', 'file://none.md', 'file://.'])(
    '%s of a project is not read',
    async (prompt) => {
      tree.write('secret.md', 'Secret.');
      tree.write('repo/.kiro/agents/keeper.json', agent(prompt));
      expect(await keeper()).toMatchObject({
        prompt: '',
        unusable: expect.stringMatching(/^Its prompt is in .* cannot be used: \S/),
      });
    },
  );

  test('may be anywhere for the user, but not in a file that usually holds secrets', async () => {
    tree.write('home/texts/keeper.md', 'Keep.');
    tree.write('elsewhere.md', 'Elsewhere.');
    tree.write('.env', 'Secret.');
    symlinkSync(tree.path('elsewhere.md'), tree.path('home/texts/link.md'));
    symlinkSync(tree.path('.env'), tree.path('home/texts/secret.md'));
    const read: unknown[] = [];
    for (const name of ['keeper.md', 'link.md', 'secret.md', 'none.md']) {
      tree.write('home/.kiro/agents/keeper.json', agent(`file://../../texts/${name}`));
      const is = await keeper({ trust: TRUST_NOTHING });
      read.push([is?.prompt, is?.unusable !== undefined]);
    }
    expect(read).toEqual([
      ['Keep.', false],
      ['Elsewhere.', false],
      ['', true],
      ['', true],
    ]);
  });
});

test('the vendor of each file in a collection is detected from path, name and content', async () => {
  const codex = 'developer_instructions = "Do."\nname = "c"\ndescription = "x"\n';
  tree.write('mix/a.json', JSON.stringify({ name: 'a', prompt: 'file://a.txt', allowedTools: [] }));
  tree.write('mix/a.txt', 'From a file.');
  tree.write('mix/b.yml', recipe('b'));
  tree.write('mix/c.toml', codex);
  tree.write('mix/d.chatmode.md', markdown('d'));
  tree.write('mix/e.md', agentFile('name: e', 'description: x', 'welcomeMessage: Hello.'));
  tree.write('mix/package.json', '{"name": "x", "description": "y"}');
  tree.write('mix/other.toml', '[package]\nname = "x"\n');
  tree.write('mix/.github/workflows/ci.yml', 'on: push\n');
  tree.write('mix/.github/pull_request_template.md', 'What changes?\n');
  const { items: agents, skipped } = await scanSubtree(AGENTS, tree.path('mix'));
  expect(agents.map(({ name, prompt, origin }) => [origin.vendor, name, prompt])).toEqual([
    ['kiro', 'a', 'From a file.'],
    ['goose', 'b', 'Do.'],
    ['codex', 'c', 'Do.'],
    ['copilot', 'd', 'Test.'],
    ['kiro', 'e', 'Test.'],
  ]);
  expect(skipped.map(({ path, code }) => [path.replace(tree.path('mix/'), ''), code])).toEqual([
    ['.github/pull_request_template.md', 'frontmatter-missing'],
  ]);
});
