// Calls that need permission, and questions of the agent, come to a function of the program.
import { createMuster } from 'muster-agent';

await using muster = await createMuster({
  model: 'anthropic/claude-sonnet-4-5',
  environment: process.env,
  onQuestion: (question) => {
    if (question.kind !== 'permission') return 'Choose what is simplest.';
    console.log(`may ${question.chain.at(-1)} run: ${question.commands.join('; ')}`);
    return question.commands.every((command) => command.startsWith('echo '))
      ? 'yes'
      : { text: 'no', reason: 'only echo may run here' };
  },
});
const { output, data } = await muster.run('Say hello with echo.');
console.log(output, data.receipt.commands);
