import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMuster, type JudgedCall, type MusterOptions } from '../../src/library.ts';
import { createScriptedModel } from '../scripted-model.ts';
import { makeDirectory, open } from './support.ts';

/** Runs a conversation with one command, and tells whether it ran and what the model read. */
async function runCommand(options: Partial<MusterOptions>) {
  const cwd = makeDirectory();
  const model = createScriptedModel((_request, index) =>
    index === 0 ? { calls: [{ name: 'Bash', input: { command: 'touch made' } }] } : { text: 'ok' },
  );
  const muster = await open({ cwd, model, ...options });
  await muster.run('Go.');
  const result = model.requests.at(-1)?.messages.at(-1);
  return {
    ran: existsSync(join(cwd, 'made')),
    text: result?.role === 'tool' ? result.content[0]?.text : undefined,
  };
}

describe('a policy', () => {
  it('sees each call, also those of subagents, and leaves the decision to the rules if it says nothing', async () => {
    const calls: JudgedCall[] = [];
    const model = createScriptedModel((request, index) => {
      if (index === 0)
        return {
          calls: [
            {
              name: 'Task',
              input: { description: 'x', prompt: 'Look.', subagent_type: 'Explore' },
            },
          ],
        };
      return index === 1
        ? { calls: [{ name: 'LS', input: { path: '.' } }] }
        : { text: `${request.messages.length}` };
    });
    const cwd = makeDirectory();
    const muster = await open({ cwd, model, policy: (call) => void calls.push(call) });
    await muster.run('Go.');
    expect(calls).toEqual([
      { tool: 'Task', input: expect.objectContaining({ prompt: 'Look.' }), depth: 0, cwd },
      { tool: 'LS', input: { path: '.' }, agent: 'Explore', depth: 1, cwd },
    ]);
  });

  it.each<[string, MusterOptions['policy'], object]>([
    ['nothing', () => undefined, { ran: true }],
    [
      'deny',
      () => ({ decision: 'deny', reason: 'not on Saturdays' }),
      { ran: false, text: expect.stringContaining('not on Saturdays') },
    ],
    ['ask', () => ({ decision: 'ask', reason: 'look first' }), { ran: false }],
    [
      'an error',
      () => {
        throw new Error('the policy broke');
      },
      { ran: false, text: expect.stringContaining('the policy broke') },
    ],
    ['allow', () => ({ decision: 'allow', reason: 'why not' }) as never, { ran: false }],
    ['nothing in time', () => new Promise<undefined>(() => {}), { ran: false }],
  ])('that says %s', async (name, policy, expected) => {
    // The last one is ended with its run, whose time is over first.
    if (name === 'nothing in time') {
      const cwd = makeDirectory();
      const model = createScriptedModel(() => ({
        calls: [{ name: 'Bash', input: { command: 'touch made' } }],
      }));
      const muster = await open({ cwd, model, allow: ['Bash'], ...(policy && { policy }) });
      const result = await muster.run('Go.', { budget: { seconds: 1 } });
      expect([result.status, existsSync(join(cwd, 'made'))]).toEqual(['partial', false]);
      return;
    }
    expect(await runCommand({ allow: ['Bash'], ...(policy && { policy }) })).toMatchObject(
      expected,
    );
  });

  it('judges the arguments that a hook has made of those of the model', async () => {
    const cwd = makeDirectory();
    const seen: unknown[] = [];
    const model = createScriptedModel([
      { calls: [{ name: 'Write', input: { file_path: 'ok.txt', content: 'x' } }] },
      { text: 'done' },
    ]);
    const muster = await open({
      cwd,
      model,
      allow: ['Write'],
      policy: ({ input }) => {
        seen.push(input['file_path']);
        return String(input['file_path']).includes('prod')
          ? { decision: 'deny', reason: 'not in production' }
          : undefined;
      },
      hooks: {
        PreToolUse: [
          {
            run: () => ({
              hookSpecificOutput: {
                hookEventName: 'PreToolUse',
                updatedInput: { file_path: 'prod.txt', content: 'x' },
              },
            }),
          },
        ],
      },
    });
    await muster.run('Go.');
    expect(seen).toEqual(['ok.txt', 'prod.txt']);
    expect(existsSync(join(cwd, 'prod.txt'))).toBe(false);
  });

  it('never allows what a rule denies', async () => {
    const allowing = { policy: () => undefined, deny: ['Bash'], onQuestion: () => 'yes' } as const;
    expect((await runCommand(allowing)).ran).toBe(false);
  });
});

describe('functions as hooks', () => {
  it('change arguments, add context, and hold up the end', async () => {
    const events: string[] = [];
    let ends = 0;
    const { ran, text } = await runCommand({
      allow: ['Bash'],
      hooks: {
        PreToolUse: [
          {
            matcher: 'Bash',
            run: ({ tool_name: tool }) => {
              events.push(`before ${tool}`);
              return {
                hookSpecificOutput: {
                  hookEventName: 'PreToolUse',
                  permissionDecision: 'ask',
                  updatedInput: { command: 'echo changed' },
                },
              };
            },
          },
          { matcher: 'Edit', run: () => void events.push('wrong') },
        ],
        PostToolUse: [{ run: () => void events.push('after') }],
        Stop: [
          {
            run: () => {
              ends += 1;
              return ends === 1 ? { decision: 'block', reason: 'one more look' } : undefined;
            },
          },
        ],
      },
      onQuestion: () => 'yes',
    });
    expect({ ran, text, events, ends }).toEqual({
      ran: false,
      text: undefined,
      events: ['before Bash', 'after'],
      ends: 2,
    });
  });

  it('may allow what only asks by default, and nothing that a rule denies', async () => {
    const allow = {
      hooks: {
        PreToolUse: [
          {
            run: () => ({
              hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' },
            }),
          },
        ],
      },
    };
    expect((await runCommand(allow)).ran).toBe(true);
    expect((await runCommand({ ...allow, deny: ['Bash'] })).ran).toBe(false);
  });

  it('with an unknown event or field are an error', async () => {
    const model = createScriptedModel([]);
    const hooks = { PreTolUse: [] } as MusterOptions['hooks'];
    await expect(createMuster({ model, ...(hooks && { hooks }) })).rejects.toThrow(
      /no event "PreTolUse". Did you mean PreToolUse/,
    );
  });

  it.each([0, -1])('refuse a time limit of %d seconds', async (timeoutSeconds) => {
    const hooks = { PreToolUse: [{ timeoutSeconds, run: () => undefined }] };
    await expect(open({ model: createScriptedModel([]), hooks })).rejects.toThrow(
      'createMuster: hooks.PreToolUse[0]: timeoutSeconds must be above 0; leave it out for 60 seconds',
    );
  });

  it('may have more time than a timer of Node can hold', async () => {
    const run = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { decision: 'block', reason: 'not here' };
    };
    const hooks = { PreToolUse: [{ timeoutSeconds: 2_147_484, run }] };
    expect(await runCommand({ allow: ['Bash'], hooks })).toEqual({
      ran: false,
      text: expect.stringContaining('not here'),
    });
  });
});
