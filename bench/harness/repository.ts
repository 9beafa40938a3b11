import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Makes the directory a git repository with one commit of all its files. */
export function createRepository(directory: string): void {
  const identity = ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.org'];
  const commands = [
    ['init', '--quiet', '--initial-branch=main'],
    ['add', '--all'],
    [...identity, 'commit', '--quiet', '--message=Add the files of the project'],
  ];
  // The developer's own configuration could sign commits or run hooks.
  const env = {
    PATH: '/usr/bin:/bin',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
  };
  for (const args of commands) execFileSync('git', args, { cwd: directory, env, stdio: 'pipe' });
}

const CONVENTION = '- Write the test before the code and name it after the behaviour.\n';

/** Context files at the top of the project and in `src`, and those of the user. */
export function writeContextFiles(project: string, home: string): void {
  write(join(project, 'AGENTS.md'), `# The project\n\n${CONVENTION.repeat(40)}`);
  write(join(project, 'CLAUDE.md'), `@AGENTS.md\n\n# Notes\n\n${CONVENTION.repeat(5)}`);
  write(join(project, 'src', 'CLAUDE.md'), `# The sources\n\n${CONVENTION.repeat(15)}`);
  write(join(home, '.claude', 'CLAUDE.md'), `# My habits\n\n${CONVENTION.repeat(5)}`);
}

const PROMPT = `You do one thing.\n\n${'- Read the code around a line before you change it.\n'.repeat(40)}`;

/** Paths below the home directory and below the project, with the formats of six products. */
const USER_AGENTS = [
  '.claude/agents/reviewer.md',
  '.claude/agents/test-writer.md',
  '.codex/agents/porter.toml',
  '.config/opencode/agents/translator.md',
  '.gemini/agents/explainer.md',
];
const PROJECT_AGENTS = [
  '.claude/agents/migrations.md',
  '.claude/agents/release-notes.md',
  '.cursor/agents/styler.md',
  '.github/agents/triage.agent.md',
  '.muster/agents/profiler.md',
  '.opencode/agents/documenter.md',
];

/** The names under which the agents of `writeAgentDefinitions` can be called. */
export const AGENT_NAMES: readonly string[] = [...USER_AGENTS, ...PROJECT_AGENTS].map(agentName);

/** Writes eleven agent definitions into the user's and the project's directories. */
export function writeAgentDefinitions(project: string, home: string): void {
  for (const path of USER_AGENTS) write(join(home, path), definitionText(path));
  for (const path of PROJECT_AGENTS) write(join(project, path), definitionText(path));
}

function agentName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/(?:\.agent)?\.\w+$/, '');
}

function definitionText(path: string): string {
  const name = agentName(path);
  const description = `Works as the ${name} of a change. Use it after the code was written.`;
  if (path.endsWith('.toml')) {
    return `name = "${name}"\ndescription = "${description}"\ndeveloper_instructions = """\n${PROMPT}"""\n`;
  }
  const mode = path.includes('opencode') ? 'mode: subagent\n' : '';
  return `---\nname: ${name}\ndescription: ${description}\n${mode}---\n\n${PROMPT}`;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
