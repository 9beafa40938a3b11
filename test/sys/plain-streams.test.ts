import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PlainReadableStream } from '../../src/sys/plain-streams.ts';
import { PlainTextDecoderStream, PlainTransformStream } from '../../src/sys/plain-transforms.ts';

const PLAIN = {
  ReadableStream: PlainReadableStream,
  TransformStream: PlainTransformStream,
  TextDecoderStream: PlainTextDecoderStream,
};
/** What it is held against: the part of the standard that both have. */
const STANDARD = { ReadableStream, TransformStream, TextDecoderStream } as unknown as typeof PLAIN;
type Streams = typeof PLAIN;

/** What a stage does with a value, at once or after a while. */
interface StageScript {
  readonly copies: number;
  readonly waits: boolean;
  /** Throws at the value of that number. */
  readonly throwsAt: number | null;
  readonly last: boolean;
}

interface Script {
  readonly count: number;
  readonly source: 'start' | 'pull' | 'later' | 'flowing';
  readonly fails: boolean;
  readonly stages: readonly StageScript[];
  readonly tees: boolean;
}

const stageScript = fc.record<StageScript>({
  copies: fc.integer({ min: 0, max: 3 }),
  waits: fc.boolean(),
  throwsAt: fc.option(fc.integer({ min: 0, max: 40 }), { freq: 4 }),
  last: fc.boolean(),
});
const script = fc.record<Script>({
  count: fc.integer({ min: 0, max: 40 }),
  source: fc.constantFrom('start', 'pull', 'later', 'flowing'),
  fails: fc.boolean(),
  stages: fc.array(stageScript, { maxLength: 4 }),
  tees: fc.boolean(),
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function sourceOf(streams: Streams, { count, source, fails }: Script): PlainReadableStream<string> {
  let next = 0;
  type Controller = Parameters<
    NonNullable<NonNullable<ConstructorParameters<typeof PlainReadableStream<string>>[0]>['start']>
  >[0];
  const give = (controller: Controller): void => {
    if (next < count) controller.enqueue(String(next++));
    else if (fails) controller.error(new Error('source'));
    else controller.close();
  };
  switch (source) {
    case 'start':
      return new streams.ReadableStream<string>({
        start: (controller) => {
          for (let n = 0; n <= count; n += 1) give(controller);
        },
      });
    case 'pull':
      return new streams.ReadableStream<string>({ pull: give });
    case 'later':
      return new streams.ReadableStream<string>({
        pull: async (controller) => {
          await turn();
          give(controller);
        },
      });
    case 'flowing': {
      let isOver = false;
      let isAtWork = false;
      const flow = async (controller: Controller): Promise<void> => {
        if (isAtWork) return;
        isAtWork = true;
        do {
          await turn();
          for (let n = 0; n < AT_ONCE && !isOver; n += 1) {
            isOver = next >= count;
            give(controller);
          }
        } while (!isOver && (controller.desiredSize ?? 0) > 0);
        isAtWork = isOver;
      };
      const source = {
        pull: (controller: Controller) => void flow(controller),
        cancel: () => void (isOver = true),
        flows: () => true,
      };
      return new streams.ReadableStream<string>(source);
    }
  }
}

/** More than may wait at a stage: the source has to be asked again. */
const AT_ONCE = 20;

function stageOf(streams: Streams, at: number, { copies, waits, throwsAt, last }: StageScript) {
  let seen = 0;
  return new streams.TransformStream<string, string>({
    start: (controller) => controller.enqueue(`begin ${at}`),
    transform(value, controller) {
      const give = (): void => {
        if (seen === throwsAt) throw new Error(`stage ${at}`);
        seen += 1;
        for (let copy = 0; copy < copies; copy += 1) controller.enqueue(`${value}.${copy}`);
      };
      if (waits) return turn().then(give);
      give();
      return undefined;
    },
    flush: (controller) => {
      if (last) controller.enqueue(`end ${at}`);
    },
  });
}

interface Seen {
  readonly values: readonly string[];
  readonly failed: string | null;
}

async function readAll(stream: PlainReadableStream<string>): Promise<Seen> {
  const reader = stream.getReader();
  const values: string[] = [];
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      values.push(part.value);
    }
    return { values, failed: null };
  } catch (thrown) {
    return { values, failed: String(thrown) };
  }
}

function play(streams: Streams, plan: Script): Promise<readonly Seen[]> {
  const piped = plan.stages.reduce(
    (stream, stage, at) => stream.pipeThrough(stageOf(streams, at, stage)),
    sourceOf(streams, plan),
  );
  return Promise.all((plan.tees ? piped.tee() : [piped]).map(readAll));
}

describe('plain streams', () => {
  it('give what the standard ones give; before an error at least as much', async () => {
    await fc.assert(
      fc.asyncProperty(script, async (plan) => {
        const [plain, standard] = [await play(PLAIN, plan), await play(STANDARD, plan)];
        for (const [index, seen] of standard.entries()) {
          const own = plain[index];
          // Who fails first where two would is a race in the standard, too.
          expect(own?.failed === null).toBe(seen.failed === null);
          if (seen.failed === null) expect(own).toEqual(seen);
          else expect(own?.values.slice(0, seen.values.length)).toEqual(seen.values);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('decode text that is split anywhere', async () => {
    const text = 'Grüße, 世界 🌍!';
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 5 })), async (sizes) => {
        const bytes = new TextEncoder().encode(text);
        const stream = new PlainReadableStream<Uint8Array>({
          start: (controller) => {
            let at = 0;
            for (const size of [...sizes, bytes.length]) {
              controller.enqueue(bytes.subarray(at, at + size));
              at = Math.min(at + size, bytes.length);
            }
            controller.close();
          },
        });
        const { values } = await readAll(stream.pipeThrough(new PlainTextDecoderStream()));
        expect(values.join('')).toBe(text);
        expect(values).not.toContain('');
      }),
    );
  });

  it('ask a source to pause when nobody reads, and to go on when somebody does', async () => {
    let given = 0;
    const stream = new PlainReadableStream<number>({
      pull: (controller) => controller.enqueue((given += 1)),
    }).pipeThrough(
      new PlainTransformStream<number, number>({
        transform: async (value, controller) => {
          await turn();
          controller.enqueue(value);
        },
      }),
    );
    for (let n = 0; n < 200; n += 1) await turn();
    const ahead = given;
    expect(ahead).toBeLessThan(64);
    const reader = stream.getReader();
    for (let n = 1; n <= 100; n += 1)
      expect(await reader.read()).toEqual({ done: false, value: n });
    expect(given).toBeLessThan(100 + 64);
    await reader.cancel();
  });

  it.each([
    ['a reader', (stream: PlainReadableStream<string>) => stream.getReader().cancel('enough')],
    ['the stream', (stream: PlainReadableStream<string>) => stream.cancel('enough')],
    [
      'both branches',
      async (stream: PlainReadableStream<string>) => {
        const [one, other] = stream.tee();
        await one.cancel('enough');
        await other.cancel('enough');
      },
    ],
  ])('%s that is cancelled cancels the source, through all stages, once', async (_who, cancel) => {
    const cancelled: unknown[] = [];
    let flushed = false;
    const stream = new PlainReadableStream<string>({
      start: (controller) => controller.enqueue('a'),
      cancel: (reason) => void cancelled.push(reason),
    })
      .pipeThrough(new PlainTransformStream<string, string>({ flush: () => void (flushed = true) }))
      .pipeThrough(new PlainTransformStream<string, string>());
    await cancel(stream);
    expect({ cancelled, flushed }).toEqual({ cancelled: ['enough'], flushed: false });
  });

  it('one branch that is cancelled leaves the other its values', async () => {
    let cancelled = false;
    const [one, other] = new PlainReadableStream<string>({
      start: (controller) => {
        controller.enqueue('a');
        controller.enqueue('b');
        controller.close();
      },
      cancel: () => void (cancelled = true),
    }).tee();
    const reader = one.getReader();
    expect(await reader.read()).toEqual({ done: false, value: 'a' });
    await reader.cancel();
    reader.releaseLock();
    expect(await readAll(other)).toEqual({ values: ['a', 'b'], failed: null });
    expect(cancelled).toBe(false);
  });

  it('belong to one reader at a time', async () => {
    const stream = new PlainReadableStream<string>();
    const reader = stream.getReader();
    expect(stream.locked).toBe(true);
    expect(() => stream.getReader()).toThrow(TypeError);
    expect(() => stream.tee()).toThrow(TypeError);
    await expect(stream.cancel()).rejects.toThrow(TypeError);
    const waiting = reader.read();
    reader.releaseLock();
    await expect(waiting).rejects.toThrow('released');
    await expect(reader.read()).rejects.toThrow('released');
    expect(stream.locked).toBe(false);
  });

  it('a stage that ends the stream ends it for both sides', async () => {
    let cancelled = false;
    const stream = new PlainReadableStream<string>({
      pull: (controller) => controller.enqueue('a'),
      cancel: () => void (cancelled = true),
    }).pipeThrough(
      new PlainTransformStream<string, string>({
        transform: (value, controller) => {
          controller.enqueue(value);
          controller.terminate();
        },
      }),
    );
    expect(await readAll(stream)).toEqual({ values: ['a'], failed: null });
    expect(cancelled).toBe(true);
  });

  it.each(['before', 'after'])('fails as it is told to when it failed %s that', async (when) => {
    const stream = new PlainReadableStream<string>({
      start: (controller) => {
        controller.enqueue('a');
        if (when === 'before') controller.error('reason');
      },
      pull: (controller) => controller.error('reason'),
    }).failingAs((reason) => `told: ${String(reason)}`);
    expect(await readAll(stream)).toEqual({ values: ['a'], failed: 'told: reason' });
  });
});
