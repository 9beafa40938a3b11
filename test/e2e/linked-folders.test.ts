import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { toolResultRounds, type Answer, type RecordedRequest } from '../../src/testing/index.ts';
import { openWorld, type World } from './world.ts';

const FILES: Readonly<Record<string, string>> = {
  'muster/config.toml': '[task_tool]\nmax_depth = 1\n',
  'muster/AGENTS.md': 'Linked muster context.',
  'muster/agents/own.md': '---\nname: own-agent\ndescription: x\nmemory: user\n---\nOwn.\n',
  'muster/skills/own-skill/SKILL.md': '---\nname: own-skill\ndescription: x\n---\nOwn.\n',
  'muster/templates/own.md': '---\nname: own-template\n---\nLook at {{ item }}.\n',
  'muster/agent-memory/own-agent/MEMORY.md': '# Notes\n\n- A linked note.\n',
  'claude/CLAUDE.md': 'Linked Claude context.\n@more.md\n',
  'claude/more.md': 'Imported context.',
  'claude/settings.json': '{"permissions": {"deny": ["Bash(rm:*)"]}}',
  'claude/agents/theirs.md': '---\nname: their-agent\ndescription: x\n---\nTheirs.\n',
};

/** The directory in which a dotfile manager keeps the files, outside of the home directory. */
function store(world: World): string {
  const directory = join(world.sandbox.root, 'store');
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  return directory;
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

/** The ways in which dotfile managers link. */
const WAYS: Readonly<Record<string, (directory: string, home: string) => void>> = {
  'the whole directories': (directory, home) => {
    link(join(directory, 'muster'), join(home, '.config/muster'));
    link(join(directory, 'claude'), join(home, '.claude'));
  },
  'what lies in them': (directory, home) => {
    const linked = ['config.toml', 'AGENTS.md', 'agents', 'skills', 'templates', 'agent-memory'];
    for (const name of linked) {
      link(join(directory, 'muster', name), join(home, '.config/muster', name));
    }
    for (const name of ['CLAUDE.md', 'settings.json', 'agents']) {
      link(join(directory, 'claude', name), join(home, '.claude', name));
    }
    writeFileSync(join(home, '.claude/more.md'), 'Another file.');
  },
  'each file': (directory, home) => {
    for (const path of Object.keys(FILES)) {
      if (path.includes('memory')) continue;
      const own = path.replace(/^muster/, '.config/muster').replace(/^claude/, '.claude');
      link(join(directory, path), join(home, own));
    }
    const notes = 'muster/agent-memory/own-agent';
    link(join(directory, notes), join(home, '.config', notes));
  },
};

const answers = (): Answer => ({ text: 'ok' });

describe.concurrent('the user’s own folders, some of which are links out of the home directory', () => {
  it.each(Object.entries(WAYS))('by %s', async (_, make) => {
    await using world = await openWorld({ script: answers });
    make(store(world), world.sandbox.home);
    const listed = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await world.run(args);
      expect([args, code, stderr]).toEqual([args, 0, '']);
      return stdout;
    };
    const agents = await listed('agents', 'list', '--json');
    expect(agents).toMatch(/"own-agent"/);
    expect(agents).toMatch(/"their-agent"/);
    expect(agents).not.toMatch(/link-outside/);
    const skills = await listed('skills', 'list', '--json');
    expect(skills).toMatch(/"own-skill"/);
    expect(await listed('run', '--list', '--json')).toMatch(/"own-template"/);
    const config = await listed('config', 'show', '--json');
    expect(config).toMatch(/config\.toml/);
    expect(config).toMatch(/Bash\(rm:\*\)/);
    await listed('-p', 'hi', '--agent', 'own-agent');
    const system = world.model.requests[0]?.system ?? '';
    for (const text of ['Linked muster context.', 'Linked Claude context.', 'A linked note.']) {
      expect(system).toContain(text);
    }
  });

  it('hold notes in the directories that the links lead to', async () => {
    const script = (request: RecordedRequest): Answer =>
      toolResultRounds(request) === 0
        ? { toolCalls: [{ name: 'MemoryWrite', input: { name: 'new.md', content: 'Kept.' } }] }
        : { text: 'ok' };
    await using world = await openWorld({ script });
    const directory = store(world);
    link(join(directory, 'muster'), join(world.sandbox.home, '.config/muster'));
    const notes = join(world.sandbox.root, 'notes');
    mkdirSync(notes);
    link(notes, join(directory, 'muster/agent-memory/other'));
    writeFileSync(
      join(directory, 'muster/agents/other.md'),
      '---\nname: other\ndescription: x\nmemory: user\n---\nOther.\n',
    );
    const run = await world.run(['-p', 'note', '--agent', 'other']);
    expect(run.code).toBe(0);
    expect(readFileSync(join(notes, 'new.md'), 'utf8')).toContain('Kept.');
  });
});
