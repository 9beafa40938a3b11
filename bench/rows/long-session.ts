import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Rule } from '../../src/testing/rules.ts';
import { Fixture } from '../harness/fixture.ts';
import { interleave } from '../harness/interleave.ts';
import type { Measurement } from '../harness/measurement.ts';
import { answeredAt, exchangesOf, startModelServer } from '../harness/model-server.ts';
import { programPath, runProgram } from '../harness/program.ts';
import type { Row } from '../harness/row.ts';

const TURNS = 200;
/** The turns that are compared: early ones, after the code was compiled, and the last ones. */
const EARLY = [20, 50] as const;
const LATE = [170, 200] as const;
const PROMPT = 'Read the notes again and again.';

/** What a turn costs at the beginning and at the end of a long session. */
export const longSession: Row = {
  name: 'long-session',
  async measure({ bin, rounds }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    const script = [...readingTurns(TURNS, 'notes.txt'), { answer: { text: 'All is read.' } }];
    await using server = await startModelServer(fixture, script);
    const args = [bin, '-p', PROMPT, '--max-turns', String(TURNS + 10)];
    const { current } = await interleave(rounds ?? 3, {
      current: () =>
        runProgram(args, {
          cwd: fixture.workspace,
          env: fixture.environment(fixture.newHome(), server.env('anthropic')),
        }),
    });
    const exchanges = await server.finish();
    const gaps = current.map((run) => {
      const requests = exchangesOf(run, exchanges);
      return requests.slice(1).map(({ receivedAt }, index) => {
        const before = requests[index];
        return before === undefined ? Number.NaN : receivedAt - answeredAt(before);
      });
    });
    const samples = ([from, to]: readonly [number, number]) =>
      gaps.flatMap((each) => each.slice(from, to));
    return [
      {
        title: `answer → next request, turns ${LATE.join(' to ')} of a session`,
        unit: 'ms',
        samples: samples(LATE),
        reference: { title: `turns ${EARLY.join(' to ')}`, samples: samples(EARLY) },
        bound: { kind: 'ratio', max: 3, goal: 2 },
        notes: [
          'each turn reads a small file; requests grow with the session, so a ratio above 1 is right, but it must not grow with the square of the turns',
        ],
      },
    ];
  },
};

const CONVERSATION_BYTES = 2_000_000;
const FILE_BYTES = 50_000;

/** Continuing a conversation whose log holds 2 MB. */
export const resume: Row = {
  name: 'resume',
  async measure({ bin, rounds }): Promise<readonly Measurement[]> {
    using fixture = new Fixture();
    writeFileSync(
      join(fixture.workspace, 'large.txt'),
      `${'A line of text.\n'.repeat(4000)}`.slice(0, FILE_BYTES),
    );
    const turns = CONVERSATION_BYTES / FILE_BYTES;
    const reads = readingTurns(turns, 'large.txt');
    await using server = await startModelServer(fixture, [...reads, { answer: { text: 'ok' } }]);
    // The window of the model is smaller than the conversation. Compaction would remove what is to be measured.
    const settings = {
      ...server.env('anthropic'),
      MUSTER_MODELS_DEFAULT: 'anthropic/unlisted-model',
    };
    const env = fixture.environment(fixture.newHome(), settings);
    const options = { cwd: fixture.workspace, env };
    const limits = ['--max-turns', String(turns + 10)];
    await runProgram([bin, '-p', PROMPT, ...limits], options);
    const runs = await interleave(rounds ?? 9, {
      reference: () => runProgram([programPath('one-fetch.mjs'), server.url], options),
      fresh: () =>
        runProgram([bin, '-p', 'Hello.'], {
          ...options,
          env: { ...env, MUSTER_DATA_DIR: fixture.path('other-data') },
        }),
      resumed: () => runProgram([bin, '-p', 'Hello again.', '--continue', ...limits], options),
    });
    const exchanges = await server.finish();
    const requestBytes = runs.resumed.map((run) => exchangesOf(run, exchanges)[0].rawBody.length);
    if (Math.min(...requestBytes) < CONVERSATION_BYTES / 2) {
      throw new Error(`a resumed request has only ${Math.min(...requestBytes)} bytes`);
    }
    const times = (each: typeof runs.resumed) =>
      each.map((run) => exchangesOf(run, exchanges)[0].receivedAt - run.startedAt);
    return [
      {
        title: 'start → first request, continuing a conversation of 2 MB',
        unit: 'ms',
        samples: times(runs.resumed),
        reference: { title: 'a new conversation', samples: times(runs.fresh) },
        notes: [`the first request has ${Math.round((requestBytes[0] ?? 0) / 1000)} KB`],
      },
    ];
  },
};

function readingTurns(turns: number, file: string): readonly Rule[] {
  return Array.from({ length: turns }, (_, turn) => ({
    when: { toolResults: turn, promptIncludes: PROMPT },
    answer: { toolCalls: [{ name: 'Read', input: { file_path: file, offset: 1 + (turn % 7) } }] },
  }));
}
