// A tool of your own. Its schema checks the arguments, and its access decides who must be asked.
import { createMuster, defineTool } from 'muster-agent';
import { z } from 'zod';

const stock = new Map([['A-1', 12]]);
const countStock = defineTool({
  name: 'count_stock',
  description: 'Returns how many pieces of an article are in stock.',
  input: z.object({ article: z.string() }),
  access: 'none',
  run: ({ article }) => `${stock.get(article) ?? 0} pieces`,
});

await using muster = await createMuster({
  model: 'anthropic/claude-sonnet-4-5',
  environment: process.env,
  tools: [countStock],
});
const { output } = await muster.run('How many pieces of A-1 are there?');
console.log(output);
