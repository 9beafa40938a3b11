import { describe, expect, it } from 'vitest';
import { MAIN_AGENT } from '../../../src/engine/task/main-agent.ts';
import { reuseKey, type ReusableWork } from '../../../src/engine/reuse/reuse-key.ts';
import { call, calls } from '../play.ts';
import { MODEL, rootRights } from '../support.ts';
import { VirtualTime } from '../virtual-time.ts';
import { delegate, looks, SCOUT, scout, workspace, type DelegateSetup } from './support.ts';

const WORK: ReusableWork = {
  agent: SCOUT,
  prompt: 'look',
  model: MODEL,
  cwd: '/work',
  rights: rootRights(2),
  tools: ['Read'],
  limits: { maxTurns: null, maxTokens: null, wallMs: null, resultMaxTokens: 2_000 },
  prefix: 'abc',
};

describe('the key of a result', () => {
  const key = reuseKey(WORK);

  it.each<[string, Partial<ReusableWork>]>([
    ['prompt', { prompt: 'look again' }],
    ["agent's prompt", { agent: { ...SCOUT, prompt: 'You see.' } }],
    ['effort', { agent: { ...SCOUT, effort: 'high' } }],
    ['model', { model: { ...MODEL, id: 'two' } }],
    ['directory', { cwd: '/other' }],
    ['mode', { rights: { ...WORK.rights, mode: 'plan' } }],
    ['roots', { rights: { ...WORK.rights, roots: ['/work'] } }],
    ['denied tools', { rights: { ...WORK.rights, disallowedTools: ['Bash'] } }],
    ['depth', { rights: { ...WORK.rights, depth: 1 } }],
    ['tools', { tools: ['Read', 'LS'] }],
    ['limits', { limits: { ...WORK.limits, maxTurns: 3 } }],
    ['output schema', { outputSchema: { type: 'object' } }],
    ['beginning of its requests', { prefix: 'abd' }],
  ])('differs for another %s', (_, part) => {
    expect(reuseKey({ ...WORK, ...part })).not.toBe(key);
  });

  it('is the same wherever the definition is from and however the model was chosen', () => {
    const agent = { ...SCOUT, description: 'other', cache: true, origin: MAIN_AGENT.origin };
    const model = { ...MODEL, chain: ['call'] };
    expect(reuseKey({ ...WORK, agent, model })).toBe(key);
  });

  it('is the same for fields in another order', () => {
    const { mode, rules, ...rights } = WORK.rights;
    expect(reuseKey({ ...WORK, rights: { ...rights, rules, mode } })).toBe(key);
  });

  it('does not exist if the logs keep less than was given', () => {
    expect(reuseKey({ ...WORK, prompt: 'a [redacted by Muster] b' })).toBeNull();
    expect(reuseKey(WORK, (text) => text.replace('look', '*'))).toBeNull();
    expect(reuseKey(WORK, (text) => text)).toBe(key);
  });
});

const READ = call('Read', { file_path: 'a.ts' });

describe('a delegation', () => {
  it.each<[string, DelegateSetup]>([
    ['a model of the call', { main: [calls(scout('look', { model: 'two' }))] }],
    ['a limit of the call', { main: [calls(scout('look', { max_turns: 9 }))] }],
    ['another definition', { agents: [{ ...SCOUT, prompt: 'You look twice.' }] }],
    ['another day', { time: new VirtualTime() }],
    ['a narrower mode', { mode: 'plan' }],
    [
      'a rule',
      {
        deny: [
          { text: 'Read(b)', tool: 'Read', specifier: 'b', source: { kind: 'flag', where: '' } },
        ],
      },
    ],
  ])('with different work is run: %s', async (_, setup) => {
    const place = workspace({ 'a.ts': 'a\n' });
    await delegate(place, { look: looks(READ) });
    const { requests } = await delegate(place, { look: looks(READ) }, setup);
    expect(requests).toHaveLength(2);
  });

  it('that differs only in its description or in waiting is reused', async () => {
    const place = workspace({ 'a.ts': 'a\n' });
    await delegate(place, { look: looks(READ) });
    const main = [calls(scout('look', { description: 'Look once more', run_in_background: true }))];
    const { requests } = await delegate(place, { look: looks(READ) }, { main });
    expect(requests).toEqual([]);
  });
});
