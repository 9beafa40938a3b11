import { listSearchPaths, listDefinitionFiles } from '../../../src/agents/loader/list-files.ts';
import { openLive } from './support.ts';
import { SKILLS } from '../../../src/agents/kinds.ts';
import { discoverDefinitions } from '../../../src/agents/loader/discover.ts';
import { createSearchContext } from '../../../src/agents/loader/search-context.ts';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findSkill } from '../../../src/agents/skills/find-skill.ts';
import { TRUST_ALL, TRUST_NOTHING } from '../../../src/sys/files/project-file.ts';
import { workTree } from '../support.ts';
import { skillFile } from '../skills/support.ts';

let tree: ReturnType<typeof workTree>;

beforeEach(() => {
  tree = workTree({ 'repo/.git/HEAD': '', 'home/.keep': '', 'repo/app/.keep': '' });
});

afterEach(() => tree.remove());

const cwd = () => tree.path('repo/app');
const environment = () => ({ HOME: tree.path('home') });
const around = () => createSearchContext(cwd(), environment());

function discover(trust = TRUST_ALL) {
  return discoverDefinitions(SKILLS, { cwd: cwd(), environment: environment(), trust });
}

/** Paths relative to the tree. */
function below(path: string): string {
  return path.slice(tree.root.length + 1);
}

function write(path: string, description: string): void {
  tree.write(path, skillFile(`description: ${description}`));
}

describe('the search order', () => {
  it('searches Muster’s own directories before those of other products, and the project before the user', () => {
    const places = listSearchPaths(SKILLS, around()).map(({ path }) => below(path));
    expect(places.slice(0, 5)).toEqual([
      'repo/app/.muster/skills',
      'repo/.muster/skills',
      'home/.config/muster/skills',
      'repo/app/.agents/skills',
      'repo/app/.claude/skills',
    ]);
    const nearest = places.indexOf('repo/app/.pi/skills');
    expect(places[nearest + 1]).toBe('repo/.agents/skills');
    expect(places.slice(-13)[0]).toBe('home/.agents/skills');
    expect(new Set(places).size).toBe(places.length);
  });

  it('the first skill with a name is used, case ignored, and the others are listed as shadowed', async () => {
    write('home/.config/muster/skills/deploy/SKILL.md', 'third');
    write('repo/.muster/skills/Deploy/SKILL.md', 'second');
    write('repo/app/.muster/skills/deploy/SKILL.md', 'first');
    write('home/.claude/skills/deploy/SKILL.md', 'fourth');
    write('home/.claude/skills/other/SKILL.md', 'other');
    const { items: skills, shadowed } = await discover();
    expect(skills.map(({ name, description }) => [name, description])).toEqual([
      ['deploy', 'first'],
      ['other', 'other'],
    ]);
    expect(shadowed.map(({ item: skill, by }) => [skill.description, below(by)])).toEqual([
      ['second', 'repo/app/.muster/skills/deploy/SKILL.md'],
      ['third', 'repo/app/.muster/skills/deploy/SKILL.md'],
      ['fourth', 'repo/app/.muster/skills/deploy/SKILL.md'],
    ]);
  });
});

it('the result is empty if there are no skills', async () => {
  expect(await discover()).toMatchObject({ items: [], shadowed: [], skipped: [], problems: [] });
});

it('skills may be in groups, and everything in the folder of a skill belongs to it', async () => {
  write('home/.claude/skills/group/one/SKILL.md', 'one');
  write('home/.claude/skills/two/SKILL.md', 'two');
  write('home/.claude/skills/two/examples/three/SKILL.md', 'three');
  write('home/.claude/skills/node_modules/four/SKILL.md', 'four');
  const { items: skills } = await discover();
  expect(skills.map(({ name, directory }) => [name, below(directory)])).toEqual([
    ['one', 'home/.claude/skills/group/one'],
    ['two', 'home/.claude/skills/two'],
  ]);
});

it('a file without a folder of its own is not a skill, and does not hide other skills', async () => {
  write('home/.claude/skills/SKILL.md', 'all');
  write('home/.claude/skills/one/SKILL.md', 'one');
  const { items: skills, skipped } = await discover();
  expect(skills.map(({ name }) => name)).toEqual(['one']);
  expect(skipped).toMatchObject([{ code: 'not-in-folder' }]);
});

describe('skills of a project', () => {
  it('have an effect only when they are trusted, and are not read before', async () => {
    write('repo/.claude/skills/deploy/SKILL.md', 'ships');
    tree.write('repo/.agents/skills/binary/SKILL.md', Buffer.from([0, 1, 2]));
    write('home/.claude/skills/own/SKILL.md', 'own');
    const before = await discover(TRUST_NOTHING);
    expect(before.items.map(({ name }) => name)).toEqual(['own']);
    expect(before.problems).toEqual([]);
    expect(before.skipped.map(({ path, code }) => [below(path), code])).toEqual([
      ['repo/.agents/skills/binary/SKILL.md', 'untrusted'],
      ['repo/.claude/skills/deploy/SKILL.md', 'untrusted'],
    ]);
    const after = await discover();
    expect(after.items.map(({ name }) => name)).toEqual(['deploy', 'own']);
    expect(after.problems.map(({ code }) => code)).toEqual(['binary']);
  });

  it('can be trusted where a run finds them', () => {
    write('repo/.claude/skills/deploy/SKILL.md', 'ships');
    write('repo/.claude/skills/SKILL.md', 'none');
    write('home/.claude/skills/own/SKILL.md', 'own');
    const listed = listDefinitionFiles(SKILLS, around(), 'project');
    expect(
      listed.flatMap(({ boundary, files }) => files.map(({ path }) => ({ path, boundary }))),
    ).toEqual([
      { path: tree.path('repo/.claude/skills/deploy/SKILL.md'), boundary: tree.path('repo') },
    ]);
    expect(listed.flatMap(({ skipped }) => skipped)).toMatchObject([{ code: 'not-in-folder' }]);
  });
});

describe('skills of plugins', () => {
  function install(...paths: readonly string[]): void {
    const installed = { 'kit@market': [{ scope: 'user', installPath: tree.path('home/kit') }] };
    const plugins = JSON.stringify({ version: 2, plugins: installed });
    tree.write('home/.claude/plugins/installed_plugins.json', plugins);
    const settings = JSON.stringify({ enabledPlugins: { 'kit@market': true } });
    tree.write('home/.claude/settings.json', settings);
    if (paths.length === 0) return;
    tree.write('home/kit/.claude-plugin/plugin.json', JSON.stringify({ skills: paths }));
  }

  it('have names of the form PLUGIN:SKILL, and come last', async () => {
    install();
    write('home/kit/skills/deploy/SKILL.md', 'of the plugin');
    write('home/.claude/skills/deploy/SKILL.md', 'own');
    const { items: skills, problems } = await discover(TRUST_NOTHING);
    expect(problems).toEqual([]);
    expect(skills.map(({ name, description, scope }) => [name, description, scope])).toEqual([
      ['deploy', 'own', 'user'],
      ['kit:deploy', 'of the plugin', 'plugin'],
    ]);
    const [, ofPlugin] = skills;
    expect(below(ofPlugin?.directory ?? '')).toBe('home/kit/skills/deploy');
    expect(findSkill('/KIT:deploy', skills)).toEqual({ ok: true, skill: ofPlugin });
    expect(listDefinitionFiles(SKILLS, around(), 'project')).toEqual([]);
  });

  it('are also found in the paths of the manifest, but never outside the plugin', async () => {
    install('./more', './one', '../../outside', '/etc');
    write('home/kit/skills/usual/SKILL.md', 'usual');
    write('home/kit/more/other/SKILL.md', 'other');
    write('home/kit/one/SKILL.md', 'one');
    write('outside/bad/SKILL.md', 'bad');
    const { items: skills, skipped } = await discover();
    expect(skills.map(({ name }) => name)).toEqual(['kit:usual', 'kit:other', 'kit:one']);
    expect(skipped).toEqual([]);
  });
});

it('skills are loaded again when one was added, removed or written, and when the trust changed', async () => {
  const dependsOn = [tree.path('trust')];
  const live = await openLive(SKILLS, { cwd: cwd(), environment: environment(), dependsOn });
  const changes = [
    () => write('home/.claude/skills/one/SKILL.md', 'first'),
    () => write('home/.claude/skills/one/SKILL.md', 'second one'),
    () => write('repo/.claude/skills/two/SKILL.md', 'two'),
    () => rmSync(tree.path('home/.claude/skills/one'), { recursive: true }),
    () => tree.write('trust', 'x'),
  ];
  const seen: unknown[] = [];
  for (const change of changes) {
    expect(await live.check()).toBe('unchanged');
    change();
    seen.push([await live.check(), ...live.current().map(({ description }) => description)]);
  }
  expect(seen).toEqual([
    ['reloaded', 'first'],
    ['reloaded', 'second one'],
    ['reloaded', 'two', 'second one'],
    ['reloaded', 'two'],
    ['reloaded', 'two'],
  ]);
});

describe('links', () => {
  it('are followed inside the tree, and the folder is the one that they lead to', async () => {
    write('home/.agents/skills/deploy/SKILL.md', 'ships');
    mkdirSync(tree.path('home/.claude/skills'), { recursive: true });
    symlinkSync('../../.agents/skills/deploy', tree.path('home/.claude/skills/ship'));
    const { items: skills, shadowed } = await discover();
    expect(skills.map(({ name, directory }) => [name, below(directory)])).toEqual([
      ['deploy', 'home/.agents/skills/deploy'],
      ['ship', 'home/.agents/skills/deploy'],
    ]);
    expect(shadowed).toEqual([]);
  });

  it('are refused if they lead out of the tree, or to a folder with more than the skill', async () => {
    tree.write('outside/SKILL.md', skillFile('description: outside'));
    tree.write('repo/SKILL.md', skillFile('description: all of it'));
    mkdirSync(tree.path('repo/.claude/skills'), { recursive: true });
    symlinkSync(tree.path('outside'), tree.path('repo/.claude/skills/out'));
    symlinkSync('../..', tree.path('repo/.claude/skills/up'));
    const { items: skills, skipped } = await discover();
    expect(skills).toEqual([]);
    expect(skipped.map(({ path, code }) => [below(path), code])).toEqual([
      ['repo/.claude/skills/out', 'link-outside'],
      ['repo/.claude/skills/up/SKILL.md', 'link-above'],
    ]);
  });
});
