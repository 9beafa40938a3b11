// Runs one prompt through the library: `node library-fan-out.mjs INDEX PROMPT`. INDEX is the built entry `muster-agent`.
import { pathToFileURL } from 'node:url';

const [, , index, prompt] = process.argv;
const { createMuster } = await import(pathToFileURL(index).href);
// The same settings, keys and data directory as those of the command line.
await using muster = await createMuster({ inherit: true });
const { output, status } = await muster.run(prompt);
process.stdout.write(`${output}\n`);
process.exitCode = status === 'success' ? 0 : 1;
