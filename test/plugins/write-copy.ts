/** Writes the copy of a plugin. Arguments: the data directory, a text of its file, and `kill` to die before the rename. */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { hashPluginFiles } from '../../src/plugins/plugin-files.ts';

const [, , data = '', text = '', end] = process.argv;
if (end === 'kill') {
  fs.renameSync = () => {
    process.kill(process.pid, 'SIGKILL');
  };
  syncBuiltinESMExports();
}
const { PluginCopies } = await import('../../src/plugins/plugin-copies.ts');
const files = Array.from({ length: 50 }, (_, index) => ({
  path: `a/${index}`,
  bytes: Buffer.from(text),
  isExecutable: false,
}));
const record = { name: 'kit', marketplace: 'direct', hash: hashPluginFiles(files) };
new PluginCopies(data).write(record, files);
console.log(record.hash);
