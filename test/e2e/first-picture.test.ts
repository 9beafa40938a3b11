import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { needs } from '../needs.ts';
import { TmuxTerminal } from './tmux.ts';
import { openWorld } from './world.ts';

/** Writes a line for each segmenter and for each list of all emoji that is made. */
const PRELOAD = `
import { appendFileSync } from 'node:fs';
const { Segmenter } = Intl;
Intl.Segmenter = class extends Segmenter {
  constructor(...args) { super(...args); appendFileSync(process.env.RECORD, 'segmenter\\n'); }
};
const note = (pattern) => {
  if (String(pattern).includes('RGI_Emoji')) appendFileSync(process.env.RECORD, 'emoji\\n');
};
globalThis.RegExp = new Proxy(RegExp, {
  apply: (target, self, args) => (note(args[0]), Reflect.apply(target, self, args)),
  construct: (target, args) => (note(args[0]), Reflect.construct(target, args)),
});
`;

it.runIf(needs('tmux', 'tmux'))(
  'the first picture makes no segmenter and no list of emoji',
  async () => {
    await using world = await openWorld({ script: () => ({ text: 'Look: 👩‍👩‍👧' }) });
    const { sandbox, model } = world;
    const record = join(sandbox.root, 'record');
    const preload = join(sandbox.root, 'preload.mjs');
    writeFileSync(preload, PRELOAD);
    const env = {
      ...model.env('anthropic'),
      RECORD: record,
      NODE_OPTIONS: `--import ${preload}`,
    };
    using terminal = new TmuxTerminal(sandbox, [], { env });
    await terminal.sees('/help');
    expect(existsSync(record)).toBe(false);
    // They are made when they are needed.
    terminal.type('Show me an emoji');
    terminal.press('Enter');
    await terminal.sees('Look:');
    expect(readFileSync(record, 'utf8').split('\n').toSorted()).toEqual(['', 'emoji', 'segmenter']);
  },
);
