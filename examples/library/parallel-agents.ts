// Three agents work at the same time, each with its own context. Only their answers come back.
import { createMuster } from 'muster-agent';

await using muster = await createMuster({
  model: 'anthropic/claude-sonnet-4-5',
  environment: process.env,
});
const questions = ['Where is the entry point?', 'How is it tested?', 'What would break first?'];
const runs = questions.map((question) => muster.run(question, { agent: 'Explore' }));
for (const [index, { output }] of (await Promise.all(runs)).entries()) {
  console.log(`${questions[index]}\n${output}\n`);
}
