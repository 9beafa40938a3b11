import { seededRandom } from './random.ts';

/** When a process of a run is killed, counted from its start. */
export type KillMoment =
  | { readonly kind: 'time'; readonly ms: number }
  /** When so many lines have come from its stdout: each is an event that was written. */
  | { readonly kind: 'line'; readonly count: number }
  /** When so many changes of the logs' directory have been seen. */
  | { readonly kind: 'log'; readonly count: number }
  /** When the model has received so many requests, or a little later, in the middle of the answer. */
  | { readonly kind: 'request'; readonly count: number; readonly laterMs: number }
  /** When commands have left so many tokens: one of them is at work. */
  | { readonly kind: 'effect'; readonly count: number };

export type MomentKind = KillMoment['kind'];

/** How much of each a run has that nobody kills. */
export type RunSize = Readonly<Record<MomentKind, number>>;

/** One run: when its processes are killed, one after another. */
export interface KillPlan {
  /** Repeats it. */
  readonly seed: number;
  readonly kills: readonly KillMoment[];
}

const KINDS: readonly MomentKind[] = ['time', 'request', 'line', 'log', 'effect'];
/** Beyond the end of an answer, so that the time after it is met, too. */
const MAX_LATER_MS = 40;

/** The same seed gives the same plan for a run of the same size; kinds take turns with the seeds. */
export function killPlan(seed: number, size: RunSize): KillPlan {
  const random = seededRandom(seed);
  // A generator's first number after close seeds is close.
  for (let skipped = 0; skipped < 5; skipped += 1) random();
  const first = KINDS[seed % KINDS.length] ?? 'time';
  const kills = [momentOf(first, { size, share: random(), random })];
  // Half of the runs are killed again while they are resumed, some of these twice; early, most often,
  // since what was done need not be done again.
  for (let again = random() < 0.5; again && kills.length < 3; again = random() < 0.4) {
    const kind = KINDS[Math.floor(random() * KINDS.length)] ?? 'time';
    kills.push(momentOf(kind, { size, share: random() * 0.6, random }));
  }
  return { seed, kills };
}

/** One that comes sooner: for a run that was over before its moment came. */
export function sooner({ seed, kills: [first, ...rest] }: KillPlan): KillPlan {
  if (first === undefined) return { seed, kills: [] };
  if (first.kind === 'time') return { seed, kills: [{ ...first, ms: first.ms / 2 }, ...rest] };
  const count = Math.max(1, Math.floor(first.count / 2));
  return { seed, kills: [{ ...first, count }, ...rest] };
}

interface Draw {
  readonly size: RunSize;
  readonly share: number;
  readonly random: () => number;
}

function momentOf(kind: MomentKind, { size, share, random }: Draw): KillMoment {
  if (kind === 'time') return { kind, ms: share * size.time };
  const count = 1 + Math.floor(share * size[kind]);
  if (kind !== 'request') return { kind, count };
  return { kind, count, laterMs: random() < 0.4 ? 0 : random() * MAX_LATER_MS };
}
