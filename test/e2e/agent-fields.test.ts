import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import {
  firstUserText,
  toolResultRounds,
  type Answer,
  type AnswerToolCall,
  type RecordedRequest,
} from '../../src/testing/index.ts';
import { envelopeOf, eventsOf, runMuster, type Finished } from './muster.ts';
import { openWorld, type World } from './world.ts';

/** An agent file of the user's own. */
function own(world: World, path: string, ...lines: readonly string[]): void {
  const full = join(world.sandbox.home, '.config/muster/agents', path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, `${lines.join('\n')}\n`);
}

/** `--agents` with these, each with a prompt. */
function session(agents: Readonly<Record<string, JsonObject>>): readonly string[] {
  const whole = Object.entries(agents).map(([name, fields]) => [
    name,
    { description: name, prompt: `You are ${name}.`, ...fields },
  ]);
  return ['--agents', JSON.stringify(Object.fromEntries(whole))];
}

function isMain(request: RecordedRequest): boolean {
  return firstUserText(request) === 'go';
}

/** The main agent makes these calls, one message after another, and everybody answers `ok`. */
function delegating(...messages: readonly (readonly AnswerToolCall[])[]) {
  return (request: RecordedRequest): Answer => {
    const toolCalls = isMain(request) ? messages[toolResultRounds(request)] : undefined;
    return toolCalls === undefined ? { text: 'ok' } : { toolCalls };
  };
}

function task(type: string, input: JsonObject = {}): AnswerToolCall {
  return { name: 'Task', input: { prompt: `for ${type}`, subagent_type: type, ...input } };
}

/** What the main agent was told of its calls, in order. */
function told(world: World): readonly string[] {
  const last = world.model.requests.findLast(isMain);
  return (last?.messages ?? []).flatMap(({ toolResults }) => toolResults.map(({ text }) => text));
}

function ofChildren(world: World): readonly RecordedRequest[] {
  return world.model.requests.filter((request) => !isMain(request));
}

describe.concurrent('whom an agent may delegate to', () => {
  const agents = session({
    lead: { tools: 'Task(Scout, builder), Read' },
    Scout: { tools: 'Read' },
    Builder: { tools: 'Read, Agent' },
  });

  it('is what its file names: others cost no request, and its prompt lists no others', async () => {
    const calls = [task('explore'), task('SCOUT'), task('general-purpose')];
    await using world = await openWorld({ script: delegating(calls) });
    const run = await world.run(['-p', 'go', '--agent', 'lead', ...agents]);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(told(world)).toEqual([
      'Task: subagent_type: `lead` may not delegate to `Explore`: its definition does not list it. Valid: Scout, Builder.',
      expect.stringMatching(/^ok\n/),
      'Task: subagent_type: `lead` may not delegate to `general-purpose`: its definition does not list it. Valid: Scout, Builder.',
    ]);
    expect(ofChildren(world).map(firstUserText)).toEqual(['for SCOUT']);
    const { system, tools } = world.model.requests[0] ?? { system: '', tools: [] };
    expect(tools.map(({ name }) => name)).toEqual(['Read', 'Task']);
    expect(system).toMatch(/- Scout: /);
    expect(system).toMatch(/- Builder: /);
    expect(system).not.toMatch(/Explore|general-purpose/);
  });

  it('is no right: what it delegates to chooses by its own file', async () => {
    await using world = await openWorld({
      script: (request) => {
        if (toolResultRounds(request) > 0) return { text: 'ok' };
        if (isMain(request)) return { toolCalls: [task('builder')] };
        return firstUserText(request) === 'for builder'
          ? { toolCalls: [task('explore')] }
          : { text: 'found' };
      },
    });
    const run = await world.run(['-p', 'go', '--agent', 'lead', ...agents]);
    expect(run.code).toBe(0);
    expect(world.model.requests.map(firstUserText)).toContain('for explore');
  });
});

describe.concurrent('an agent for the background', () => {
  const agents = session({ guard: { background: true } });

  it.each([
    [{}, /^Task [a-z0-9]+ runs in the background/],
    [{ run_in_background: false }, /^ok\n/],
  ])('with %j', async (input, expected) => {
    await using world = await openWorld({ script: delegating([task('guard', input)]) });
    const run = await world.run(['-p', 'go', ...agents]);
    expect([run.code, run.stdout]).toEqual([0, 'ok\n']);
    expect(told(world)[0]).toMatch(expected);
    expect(ofChildren(world).length).toBe(1);
  });
});

describe.concurrent('what an agent begins with', () => {
  const agents = session({ daily: { initialPrompt: 'Look at the day.' }, plain: {} });
  const start = async (args: readonly string[], stdin?: string) => {
    const world = await openWorld({ script: () => ({ text: 'ok' }) });
    const options = stdin === undefined ? {} : { stdin };
    const run = await world.run([...agents, '--output-format', 'json', ...args], options);
    await world[Symbol.asyncDispose]();
    return { run, first: world.model.requests.map(firstUserText) };
  };

  it('is its first message where nothing is said', async () => {
    const { run, first } = await start(['-p', '--agent', 'daily']);
    expect([run.code, run.stderr, first]).toEqual([0, '', ['Look at the day.']]);
    expect(envelopeOf(run).context.params_input).toEqual({ agent: 'daily' });
  });

  it('goes before what is said', async () => {
    const { run, first } = await start(['-p', 'Only mine.', '--agent', 'daily']);
    expect([run.code, first]).toEqual([0, ['Look at the day.\n\nOnly mine.']]);
    expect(envelopeOf(run).context.params_input).toEqual({ prompt: 'Only mine.', agent: 'daily' });
  });

  it('goes before what comes from stdin alone', async () => {
    const { run, first } = await start(['-p', '--agent', 'daily'], 'From a pipe.');
    expect([run.code, first]).toEqual([0, ['Look at the day.\n\nFrom a pipe.']]);
  });

  it.each([
    [['-p', '--agent', 'plain'], 'no prompt'],
    [['-p', '--agent', 'nobody'], 'There is no agent `nobody`'],
    [['-p'], 'no prompt'],
  ])('is nothing of %j', async (args, message) => {
    const { run, first } = await start(args);
    expect([run.code, first]).toEqual([2, []]);
    expect(run.stderr).toContain(message);
  });

  it('is nothing to a child', async () => {
    await using world = await openWorld({ script: delegating([task('daily')]) });
    await world.run(['-p', 'go', ...agents]);
    expect(ofChildren(world).map(firstUserText)).toEqual(['for daily']);
  });
});

describe('an effort', () => {
  it.each([
    ['anthropic', 'claude-sonnet-5', { output_config: { effort: 'max' } }],
    ['responses', 'gpt-6-sol', { reasoning: { effort: 'max' } }],
    [
      'google',
      'gemini-3.8-flash',
      { generationConfig: { thinkingConfig: { thinkingLevel: 'high' } } },
    ],
    ['chat', null, { reasoning_effort: 'max' }],
  ] as const)(
    'reaches every request of its agent, over %s, and no other',
    async (protocol, id, expected) => {
      await using world = await openWorld({ protocol, script: delegating([task('thinker')]) });
      const env = world.model.env(protocol);
      if (protocol === 'responses') speakResponses(world, env['OPENAI_BASE_URL'] ?? '');
      const provider = protocol === 'responses' ? 'own' : protocol;
      const model = id === null ? [] : ['--model', `${provider}/${id}`];
      const agents = session({ thinker: { effort: 'max' } });
      const run = await startWith(world, ['-p', 'go', ...agents, ...model], env);
      expect([run.code, run.stderr]).toEqual([0, '']);
      expect(ofChildren(world).map(({ body }) => body)).toMatchObject([expected]);
      const main = world.model.requests.filter(isMain);
      for (const { rawBody } of main) expect(rawBody).not.toMatch(/effort":|thinking/);
    },
  );

  it('that a model refuses does not keep the task from its work', async () => {
    await using world = await openWorld({
      protocol: 'chat',
      script: (request) => {
        if (!('reasoning_effort' in request.body)) return delegating([task('thinker')])(request);
        return { fault: { kind: 'status', status: 400, message: 'does not support thinking' } };
      },
    });
    const run = await world.run(['-p', 'go', ...session({ thinker: { effort: 'xhigh' } })]);
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(told(world)[0]).toMatch(/^ok\n/);
    expect(ofChildren(world).map(({ body }) => body['reasoning_effort'])).toEqual([
      'xhigh',
      'high',
      undefined,
    ]);
  });
});

describe.concurrent('an agent that cannot be started', () => {
  const agents = session({
    lost: { tools: 'Teleport' },
    searcher: { tools: 'AskUser, Bash' },
    bare: { tools: [] },
  });

  it('is refused with why and what to do, without a request; one that asks for no tools runs', async () => {
    const calls = [task('lost'), task('searcher'), task('bare')];
    await using world = await openWorld({ script: delegating(calls) });
    const run = await world.run(['-p', 'go', '--deny', 'Bash', ...agents]);
    expect(run.code).toBe(0);
    expect(told(world)).toEqual([
      expect.stringMatching(
        /^Task: subagent_type: `lost` can't be started: None of the tools that it requests can be used \(Teleport\)\. .*name another agent\.$/,
      ),
      expect.stringMatching(
        /^Task: subagent_type: `searcher` can't be started: none of the tools .* Bash: The deny rule `Bash` \(--deny\) forbids it\. .*do the work yourself\.$/,
      ),
      expect.stringMatching(/^ok\n/),
    ]);
    expect(ofChildren(world).map(firstUserText)).toEqual(['for bare']);
    expect(ofChildren(world)[0]?.tools).toEqual([]);
  });

  it('is a usage error as the main agent, and listed all the same', async () => {
    await using world = await openWorld({ script: () => ({ text: 'ok' }) });
    const run = await world.run(['-p', 'go', '--agent', 'lost', ...agents]);
    expect([run.code, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toContain(
      "`lost` can't be started: None of the tools that it requests can be used (Teleport).",
    );
    expect(world.model.requests).toEqual([]);
    own(world, 'lost.md', '---', 'name: lost', 'description: x', 'tools: Teleport', '---', 'You.');
    const list = JSON.parse((await world.run(['agents', 'list', '--json'])).stdout);
    expect(list.agents.map(({ name }: { name: string }) => name)).toContain('lost');
  });
});

describe.concurrent("Claude Code's dontAsk", () => {
  const agents = session({ silent: { permissionMode: 'dontAsk' } });
  const write = { name: 'Write', input: { file_path: 'new.txt', content: 'x' } };

  it.each(['deny', 'park'])(
    'refuses what would ask, where others are asked (--on-ask %s), for all below it',
    async (onAsk) => {
      await using world = await openWorld({
        script: (request) => {
          if (toolResultRounds(request) > 0) return { text: 'ok' };
          if (isMain(request)) return { toolCalls: [task('silent')] };
          return { toolCalls: [write] };
        },
      });
      const run = await world.run([
        '-p',
        'go',
        ...agents,
        '--on-ask',
        onAsk,
        '--output-format',
        'stream-json',
      ]);
      expect(run.code).toBe(0);
      expect(eventsOf(run).filter(({ type }) => type === 'question.asked')).toEqual([]);
      expect(ofChildren(world).at(-1)?.messages.at(-1)?.toolResults[0]?.text).toBe(
        "Refused, nothing was done. Write changes files, and neither a rule nor default mode lets it run unasked. It is not asked: the definition of `silent` wants what would be asked to be refused. A user can allow it with --allow 'Edit(./new.txt)'. Do not try the same another way; go on without it, and say so in your answer.",
      );
    },
  );

  it('lets run what a rule allows, and parks no conversation of its own', async () => {
    await using world = await openWorld({
      script: (request) =>
        toolResultRounds(request) > 0
          ? { text: 'ok' }
          : {
              toolCalls: [
                write,
                { name: 'Write', input: { file_path: 'b/c.txt', content: 'x' } },
                { name: 'AskUser', input: { question: 'Which?' } },
              ],
            },
    });
    const run = await world.run([
      '-p',
      'go',
      '--agent',
      'silent',
      ...agents,
      '--on-ask',
      'park',
      '--allow',
      'Edit(./new.txt)',
    ]);
    expect([run.code, run.stdout]).toEqual([0, 'ok\n']);
    const [first, second, third] = told(world);
    expect([first, second, third]).toEqual([
      expect.not.stringContaining('Refused'),
      expect.stringContaining('It is not asked: the definition of `silent`'),
      expect.stringContaining('AskUser is not among your tools'),
    ]);
  });
});

describe.concurrent('the limits of a definition', () => {
  it('end its task, whatever the call says', async () => {
    await using world = await openWorld({
      script: (request) => {
        if (isMain(request)) return delegating([task('short', { max_turns: 9 })])(request);
        const n = toolResultRounds(request);
        return { text: `turn ${n}`, toolCalls: [{ name: 'Glob', input: { pattern: `*.${n}` } }] };
      },
    });
    own(world, 'short.md', '---', 'name: short', 'description: x', 'max-turns: 2', '---', 'You.');
    await world.run(['-p', 'go']);
    expect(told(world)[0]).toContain('LIMIT_EXCEEDED: the limit max_turns = 2 is reached');
    // The last one is for its answer.
    expect(ofChildren(world).length).toBe(3);
  });

  it('cut its answer, its tokens and its time', async () => {
    const long = Array.from({ length: 60 }, (_, n) => `Paragraph ${n} of a long answer.`).join(
      '\n\n',
    );
    await using world = await openWorld({
      script: (request) => {
        const prompt = firstUserText(request);
        if (prompt === 'for brief') return { text: long };
        if (prompt === 'for slow') return { delayMs: 5_000, text: 'late' };
        if (prompt === 'for cheap') {
          return {
            toolCalls: [{ name: 'LS', input: { path: '.' } }],
            usage: { input: 5_000, output: 500 },
          };
        }
        return delegating([task('brief'), task('slow'), task('cheap')])(request);
      },
    });
    own(
      world,
      'brief.md',
      '---',
      'name: brief',
      'description: x',
      'result-max-tokens: 40',
      '---',
      'You.',
    );
    own(world, 'slow.md', '---', 'name: slow', 'description: x', 'wall-seconds: 1', '---', 'You.');
    own(
      world,
      'cheap.md',
      '---',
      'name: cheap',
      'description: x',
      'max-tokens: 4000',
      '---',
      'You.',
    );
    await world.run(['-p', 'go']);
    const [brief, slow, cheap] = told(world);
    expect(brief).toMatch(/\[Cut at \d+ of \d+ characters\. The rest: TaskOutput/);
    expect(slow).toMatch(/LIMIT_EXCEEDED: the limit task_wall_seconds = 1 /);
    expect(cheap).toMatch(/LIMIT_EXCEEDED: the limit max_tokens = 4000 /);
  });
});

describe.concurrent("a definition's model", () => {
  it("that nobody here has is its parent's, and the result says so", async () => {
    const agents = session({
      copied: { model: 'GPT-4.1 (copilot)' },
      shown: { model: 'Claude Sonnet 4.5 (copilot)' },
      several: { model: "GPT-4.1 | 'gpt-5' | 'Claude Opus 4.6'" },
      listed: { model: ['gpt-5', 'claude-opus-4-6'] },
      tier: { model: 'haiku' },
      unknown: { model: 'Claude Sonnet 9.9' },
    });
    const types = ['copied', 'shown', 'several', 'listed', 'tier', 'unknown'];
    await using world = await openWorld({ script: delegating(types.map((type) => task(type))) });
    const run = await world.run(['-p', 'go', ...agents, '--model', 'anthropic/claude-opus-5-5']);
    expect(run.code).toBe(0);
    const models = new Map(
      ofChildren(world).map((each) => [firstUserText(each).slice(4), each.model]),
    );
    expect(types.map((type) => models.get(type))).toEqual([
      'claude-opus-5-5',
      'claude-sonnet-4-5',
      'claude-opus-4-6',
      'claude-opus-4-6',
      'claude-haiku-4-5',
      'claude-opus-5-5',
    ]);
    const notes = told(world).map((text) => /^\[Note: (.*)\]$/m.exec(text)?.[1] ?? '');
    expect(notes).toEqual([
      'copied asks for the model "GPT-4.1 (copilot)", which is not usable ("gpt-4.1" needs a key: set OPENAI_API_KEY in the environment, or run "muster login openai"); its parent\'s is used',
      '',
      '',
      '',
      '',
      'unknown asks for the model "Claude Sonnet 9.9", which is not usable (no model of anthropic is known by this name); its parent\'s is used',
    ]);
  });
});

describe.concurrent('a project file that takes the name of a built-in', () => {
  const files = {
    '.muster/agents/explore.md':
      '---\nname: explore\ndescription: Mine\npermission-mode: autonomous\ntools: Bash, Write\n---\nYou explore.\n',
  };
  const write = { name: 'Write', input: { file_path: 'made.txt', content: 'x' } };
  const script = (request: RecordedRequest): Answer => {
    if (toolResultRounds(request) > 0) return { text: 'ok' };
    return isMain(request) ? { toolCalls: [task('Explore')] } : { toolCalls: [write] };
  };

  it.each([
    ['plan', 'Write is not among your tools: Bash.'],
    ['default', 'neither a rule nor default mode lets it run unasked'],
  ])('has never more than its parent in %s mode', async (mode, refusal) => {
    await using world = await openWorld({ files, script });
    const run = await world.run(['-p', 'go', '--trust-project', '--permission-mode', mode]);
    expect(run.code).toBe(0);
    const last = ofChildren(world).at(-1);
    expect(last?.system).toContain('You explore.');
    expect(last?.messages.at(-1)?.toolResults[0]?.text).toContain(refusal);
  });

  it('does nothing until the project is trusted, and the listing says what it shadows', async () => {
    await using world = await openWorld({ files, script });
    await world.run(['-p', 'go']);
    expect(ofChildren(world)[0]?.system).not.toContain('You explore.');
    const list = await world.run(['agents', 'list', '--json', '--trust-project']);
    const agents: readonly JsonObject[] = JSON.parse(list.stdout).agents;
    expect(agents.find(({ name }) => name === 'explore')).toMatchObject({
      scope: 'project',
      permissionMode: 'autonomous',
      effectiveMode: 'default',
      shadows: ['builtin:explore'],
    });
    expect(agents.find(({ name }) => name === 'Explore')).toMatchObject({
      shadowedBy: join(world.sandbox.workspace, '.muster/agents/explore.md'),
    });
  });
});

/** A server that is not OpenAI's own has to be said to speak it. */
function speakResponses({ sandbox }: World, baseUrl: string): void {
  const path = join(sandbox.home, '.config/muster/config.toml');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    `[models.providers.own]\nkind = "openai-responses"\nbase_url = "${baseUrl}"\napi_key_env = "OPENAI_API_KEY"\n`,
  );
}

/** With another model than the world's own. */
function startWith(
  world: World,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Finished> {
  return runMuster(world.sandbox, args, { env });
}

describe.concurrent('an agent whose tools are limited to certain calls', () => {
  const agents = session({
    reviewer: { tools: 'Read, Bash(echo hello:*), Task' },
    helper: { tools: 'Bash, Write' },
  });
  const GRANTS = ['--allow', 'Bash', '--allow', 'Write', '--permission-mode', 'autonomous'];
  const commands = ['echo hello you', 'touch made.txt', 'echo hello > made.txt'];
  const bash = (command: string): AnswerToolCall => ({ name: 'Bash', input: { command } });
  const refused = expect.stringMatching(
    /^Refused, nothing was done\. Bash is limited to `Bash\(echo hello:\*\)` \(agent reviewer\), which does not cover this Bash call\. Make only calls that are covered/,
  );

  it('gets the tool for those calls alone, and so does its child, whatever is allowed', async () => {
    const results = new Map<string, readonly string[]>();
    await using world = await openWorld({
      bare: true,
      script: (request) => {
        const name = firstUserText(request);
        const round = toolResultRounds(request);
        const texts = request.messages.flatMap(({ toolResults }) => toolResults);
        results.set(
          name,
          texts.map(({ text }) => text),
        );
        if (name === 'go') return round === 0 ? { toolCalls: [task('reviewer')] } : { text: 'ok' };
        if (round === 0) return { toolCalls: commands.map(bash) };
        if (name === 'for reviewer' && round === 1) return { toolCalls: [task('helper')] };
        return { text: 'ok' };
      },
    });
    const run = await world.run(['-p', 'go', ...agents, ...GRANTS]);
    expect(run.code).toBe(0);
    const expected = [expect.stringMatching(/hello you/), refused, refused];
    expect(results.get('for reviewer')?.slice(0, 3)).toEqual(expected);
    expect(results.get('for helper')).toEqual(expected);
    const first = world.model.requests.find((each) => firstUserText(each) === 'for reviewer');
    expect(first?.tools.map(({ name }) => name)).toEqual(['Read', 'Bash', 'Task']);
    expect(first?.system).toContain('- Bash: `Bash(echo hello:*)`');
    expect(existsSync(join(world.sandbox.workspace, 'made.txt'))).toBe(false);
  });

  it('is explained with its limits', async () => {
    await using world = await openWorld({ script: () => ({ text: 'ok' }) });
    own(
      world,
      'git.md',
      '---',
      'name: git',
      'description: x',
      'tools: Bash(git:*), create_file',
      '---',
      'Git.',
    );
    const { stdout } = await world.run(['agents', 'explain', 'git']);
    expect(stdout).toMatch(/^limited +Bash to Bash\(git:\*\) \(agent git\)$/m);
    expect(stdout).toMatch(/^ +Write to files that do not exist yet \(agent git\)$/m);
    const shown = await world.run(['agents', 'show', 'git']);
    expect(shown.stdout).toMatch(/^tools +Bash\(git:\*\), create_file$/m);
  });

  it('writes new files alone where it was given a tool that creates files', async () => {
    const creator = session({ creator: { tools: 'Read, create_file' } });
    const writeFile = (path: string): AnswerToolCall => ({
      name: 'Write',
      input: { file_path: path, content: 'new' },
    });
    await using world = await openWorld({
      script: (request) => {
        const round = toolResultRounds(request);
        if (isMain(request)) return round === 0 ? { toolCalls: [task('creator')] } : { text: 'ok' };
        if (round === 0) return { toolCalls: [{ name: 'Read', input: { file_path: 'old.txt' } }] };
        if (round === 1) return { toolCalls: [writeFile('old.txt'), writeFile('new.txt')] };
        return { text: 'ok' };
      },
    });
    writeFileSync(join(world.sandbox.workspace, 'old.txt'), 'old');
    const run = await world.run(['-p', 'go', ...creator, '--permission-mode', 'acceptEdits']);
    expect([run.code, run.stderr]).toEqual([0, '']);
    const read = (name: string) => readFileSync(join(world.sandbox.workspace, name), 'utf8');
    expect([read('old.txt'), read('new.txt')]).toEqual(['old', 'new']);
    const last = ofChildren(world).at(-1);
    const texts = (last?.messages ?? []).flatMap(({ toolResults }) => toolResults);
    expect(texts.map(({ text }) => text)).toContainEqual(
      expect.stringContaining('Write is limited to files that do not exist yet (agent creator)'),
    );
  });
});
