import { describe, expect, it } from 'vitest';
import { converse } from '../../../src/api/session/converse.ts';
import type { Run } from '../../../src/api/index.ts';
import { MusterError } from '../../../src/base/errors.ts';

/** A run that has ended with this text. Only its result is used. */
function endedRun(text: string): Run {
  return { result: Promise.resolve({ data: { result: text } }) } as unknown as Run;
}

const never = new Promise<void>(() => {});
const ended = () => {
  throw new MusterError('NOT_FOUND', 'the task has ended');
};

async function* say(...messages: readonly string[]): AsyncGenerator<string> {
  yield* messages;
}

describe('converse', () => {
  it('continues an ended run with each message, and returns the last result', async () => {
    const resume = async (message: string) => endedRun(`answer to ${message}`);
    const parts = { first: endedRun('one'), messages: say('two', 'three'), send: ended, resume };
    expect(await converse({ ...parts, stopped: never })).toMatchObject({
      data: { result: 'answer to three' },
    });
  });

  it('ends with the run when it is stopped, although the messages wait for ever', async () => {
    const stopped = Promise.withResolvers<void>();
    async function* wait(): AsyncGenerator<string> {
      stopped.resolve();
      await never;
      yield 'never';
    }
    const resume = () => Promise.reject(new Error('nothing is resumed'));
    const parts = { first: endedRun('one'), messages: wait(), send: ended, resume };
    expect(await converse({ ...parts, stopped: stopped.promise })).toMatchObject({
      data: { result: 'one' },
    });
  });

  it('passes on other errors of a message', async () => {
    const send = () => {
      throw new MusterError('INVALID_PARAM', 'these items belong to another task');
    };
    const resume = () => Promise.reject(new Error('nothing is resumed'));
    const parts = { first: endedRun('one'), messages: say('two'), send, resume };
    await expect(converse({ ...parts, stopped: never })).rejects.toThrow('belong to another task');
  });
});
