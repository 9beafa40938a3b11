import { describe, expect, it, vi } from 'vitest';
import {
  assertAppendOnly,
  firstUserText,
  type RecordedRequest,
  type WireProtocol,
} from '../../src/testing/index.ts';
import { CASES, type FaultCase, type Outcome } from './cases.ts';
import { Play, ROOT, siblingPrompt, VICTIM } from './play.ts';
import { openWorld, type World } from './world.ts';

const SIBLINGS = ['s1', 's2', 's3', 's4', 's5', 's6', 's7'];
const EIGHT = [...SIBLINGS.slice(0, 3).map(siblingPrompt), VICTIM];

/** Where the task stands that meets the fault: the prompts of the main agent and of its children. */
const POSITIONS: readonly {
  readonly where: string;
  readonly prompt: string;
  readonly delegated: readonly string[];
}[] = [
  { where: 'the main agent', prompt: VICTIM, delegated: [] },
  { where: 'a child', prompt: ROOT, delegated: [VICTIM] },
  {
    where: 'one of 8 children',
    prompt: ROOT,
    delegated: [...EIGHT, ...SIBLINGS.slice(3).map(siblingPrompt)],
  },
];

/** So small that what is over them comes in a moment. */
const CAPS = { contentBytes: 4_000, eventBytes: 100_000, streamBytes: 400_000 };

/** Every fault in every position, over that protocol. */
export function testFaults(protocol: WireProtocol): void {
  // The tests spend most of their time on waits.
  vi.setConfig({ maxConcurrency: 12 });
  describe.concurrent.each(POSITIONS)(`met by $where over ${protocol}:`, (position) => {
    it.each(CASES)('$name', async (fault) => {
      const outcome = { ...fault.outcome, ...fault.besides?.[protocol] };
      const play = new Play(fault, { outcome, delegated: position.delegated });
      await using world = await openWorld({
        protocol,
        caps: CAPS,
        script: (request) => play.answer(request, world),
        isImpatient: (request) => fault.isSilent === true && play.isMeeting(request),
        route: (url, body) => play.route(url, body),
      });
      await world.run(position.prompt);
      checkVictim(world, { fault, outcome, sent: play.sent });
      checkOthers(world, { outcome, delegated: position.delegated });
    });
  });
}

interface Met {
  readonly fault: FaultCase;
  readonly outcome: Outcome;
  readonly sent: number;
}

function checkVictim(world: World, { fault, outcome, sent }: Met): void {
  const { told, status, requests, counted, says = '', effects } = outcome;
  const state = world.states().get(VICTIM);
  const own = requestsOf(world, VICTIM);
  expect({
    status: state?.status,
    requests: sent,
    counted: [...(state?.faults.keys() ?? [])],
    effects: world.counted().filter((line) => !SIBLINGS.includes(line)),
  }).toEqual({ status, requests, counted, effects });
  for (const [index, later] of own.entries()) {
    const earlier = own[index - 1];
    if (earlier !== undefined) assertAppendOnly(earlier, later);
  }
  switch (told) {
    case 'nobody, tried again':
      // What went astray never arrived.
      if (fault.detour === undefined) expect(own[2]?.rawBody).toBe(own[1]?.rawBody);
      return;
    case 'nobody, mended':
      return;
    case 'model':
      expect(own[1]?.rawBody).not.toContain(says);
      expect(own[2]?.rawBody).toContain(says);
      return;
    case 'caller':
      expect(state?.end?.error?.message).toContain(says);
      return;
    default:
      told satisfies never;
  }
}

/** The parent and the siblings: none of them is harmed, and the parent hears how the task ended. */
function checkOthers(
  world: World,
  { outcome, delegated }: { readonly outcome: Outcome; readonly delegated: readonly string[] },
): void {
  if (delegated.length === 0) return;
  const states = world.states();
  const others = [ROOT, ...delegated].filter((prompt) => prompt !== VICTIM);
  expect(others.map((prompt) => states.get(prompt)?.status)).toEqual(others.map(() => 'completed'));
  const lines = delegated.length === 1 ? [] : SIBLINGS;
  expect(world.counted().filter((line) => SIBLINGS.includes(line))).toEqual(lines);
  for (const prompt of others) expect(requestsOf(world, prompt)).toHaveLength(2);
  const heard = requestsOf(world, ROOT)[1]?.rawBody;
  if (outcome.status === 'completed') expect(heard).not.toContain('The task ended as');
  else expect(heard).toContain(`The task ended as ${outcome.status}`);
}

function requestsOf({ fake }: World, prompt: string): readonly RecordedRequest[] {
  return fake.requests.filter((request) => firstUserText(request).includes(prompt));
}
