// A run can be told something while it works, and continued after it has ended, also by another process.
import { createMuster } from 'muster-agent';

const options = {
  model: 'anthropic/claude-sonnet-4-5',
  environment: process.env,
  dataDir: '.tasks',
};
let id: string;
{
  await using muster = await createMuster(options);
  const run = muster.run('List the files here.');
  for await (const event of run) {
    if (event.type === 'call.started') await run.send('Only the Markdown files.');
  }
  id = run.id;
  console.log((await run).output);
}
await using muster = await createMuster(options);
const { output } = await muster.resume(id, 'And how many are there?');
console.log(output);
