import { expect, test } from 'vitest';
import {
  createMemoryToolRecords,
  keepForRun,
  openToolRecords,
} from '../../../src/api/mcp/tool-records.ts';
import { tempDirectory } from '../../mcp/support.ts';

const tools = (instructions: string) => ({ instructions, tools: [] });

test('the tools of a server that is trusted for one run are not stored', () => {
  const directory = tempDirectory();
  const stored = openToolRecords(directory);
  stored.write('accepted', tools('accepted'));
  const records = keepForRun(stored, new Set(['once', 'accepted']));
  records.write('once', tools('new'));
  records.write('accepted', tools('other'));
  records.write('own', tools('own'));
  const names = ['once', 'accepted', 'own'];
  const read = ({ read }: typeof records) => names.map((name) => read(name)?.instructions);
  expect([
    read(records),
    read(openToolRecords(directory)),
    read(createMemoryToolRecords()),
  ]).toEqual([
    ['new', 'other', 'own'],
    [undefined, 'accepted', 'own'],
    [undefined, undefined, undefined],
  ]);
});
