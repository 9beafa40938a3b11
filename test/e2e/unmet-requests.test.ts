import { describe, expect, it } from 'vitest';
import { toolResultRounds, type RecordedRequest } from '../../src/testing/index.ts';
import { envelopeOf, eventsOf } from './muster.ts';
import { openWorld, type World } from './world.ts';

const CODER = `---
name: coder
description: Writes code where it is told to.
tools: Read, Frobnicate, Write, mcp__github__issues
disallowed-tools: bash_tool
deny-rules: [Bsh(git push:*)]
isolation: remote
---
You write code.
`;

const DENY = ['--deny', 'Write'];

function isMain(request: RecordedRequest): boolean {
  return request.systemParts.join('\n').includes("in the user's terminal");
}

function world(): Promise<World> {
  return openWorld({
    script: (request) => {
      if (!isMain(request)) return { text: 'did what I could' };
      if (toolResultRounds(request) > 0) return { text: 'done' };
      const part = { prompt: 'part', subagent_type: 'coder' };
      return { toolCalls: [{ name: 'Task', input: part }] };
    },
    files: { '.muster/agents/coder.md': CODER },
  });
}

const LACKS = [
  /Frobnicate: No tool of that name is known\./,
  /Write: The deny rule .* forbids it\./,
  /mcp__github__issues: No MCP server github is configured\./,
  /denial of bash_tool: No tool of that name is known: nothing is denied\./,
  /rule Bsh\(git push:\*\): there is no tool "Bsh"; did you mean Bash\? It has no effect\./,
  /isolation remote: Muster does not offer it; the task works in the directory of its parent\./,
];

describe('what a definition asks for and does not get', () => {
  it('is told to the user, to the child and to its parent, and stands in the log', async () => {
    await using own = await world();
    const run = await own.run(['-p', 'go', '--trust-project', ...DENY]);
    expect(run.code).toBe(0);
    const child = own.model.requests.find((request) => !isMain(request));
    const system = child?.systemParts.join('\n') ?? '';
    const [result] = own.model.requests.at(-1)?.messages.at(-1)?.toolResults ?? [];
    expect(system).toContain('# Not available');
    expect(run.stderr).toContain('coder does not get all that its definition asks for');
    expect(result?.text).toContain('[Note: coder does not get all that its definition asks for');
    for (const lack of LACKS) {
      expect(system).toMatch(lack);
      expect(run.stderr).toMatch(lack);
      expect(result?.text).toMatch(lack);
    }
  });

  it('stands in the created event of the task', async () => {
    await using own = await world();
    const run = await own.run([
      '-p',
      'go',
      '--trust-project',
      ...DENY,
      '--output-format',
      'stream-json',
    ]);
    const created = eventsOf(run).flatMap((event) =>
      event.type === 'task.created' && event.spec.parent !== null ? [event.spec.unmet] : [],
    );
    expect(created[0]?.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'tool Frobnicate',
      'denial bash_tool',
      'tool Write',
      'tool mcp__github__issues',
      'rule Bsh(git push:*)',
      'isolation remote',
    ]);
    expect(envelopeOf(run).status).toBe('success');
  });

  it('is told by agents explain as a task would be, and found by agents check', async () => {
    await using own = await world();
    const explained = await own.run(['agents', 'explain', 'coder', '--trust-project', '--json']);
    expect(explained.stdout).toContain('# Not available');
    const checked = await own.run(['agents', 'check', 'coder']);
    expect(checked.stdout).toMatch(/Unknown tool `Frobnicate`/);
    expect(checked.stdout).toMatch(/It requests mcp__github__issues but does not get it/);
    expect(checked.stdout).toMatch(/Unknown tool `bash_tool`; it denies nothing/);
    expect(checked.stdout).toMatch(
      /error.*The rule `Bsh\(git push:\*\)` cannot be applied: there is no tool "Bsh"; did you mean Bash\?/,
    );
    expect(checked.stdout).toMatch(/It requests isolation remote but does not get it/);
  });

  it('is nothing for the definitions of the package', async () => {
    await using own = await openWorld({
      script: (request) => {
        if (!isMain(request)) return { text: 'found' };
        if (toolResultRounds(request) > 0) return { text: 'done' };
        const types = ['Explore', 'Plan', 'Bash', 'Review', 'Summary', 'general-purpose'];
        return {
          toolCalls: types.map((type) => ({
            name: 'Task',
            input: { prompt: `part of ${type}`, subagent_type: type },
          })),
        };
      },
    });
    const run = await own.run(['-p', 'go']);
    expect(run.code).toBe(0);
    expect(run.stderr).not.toContain('does not get all');
    expect(
      own.model.requests.some((request) =>
        request.systemParts.join('').includes('# Not available'),
      ),
    ).toBe(false);
  });
});
