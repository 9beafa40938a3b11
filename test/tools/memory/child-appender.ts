import { noteTask } from './support.ts';

/** A process that appends lines with its own name to one note, and so to the index. */
const [project = '', user = '', name = '', count = ''] = process.argv.slice(2);
const task = noteTask({ project, user });
for (let at = 0; at < Number(count); at += 1) {
  const { text, error } = await task.call('MemoryAppend', { file: 'log', text: `${name} ${at}` });
  if (error !== undefined) throw new Error(text);
  if (at % 50 === 0) await task.call('MemoryWrite', { file: `${name}-${at}`, text: `${name}` });
}
