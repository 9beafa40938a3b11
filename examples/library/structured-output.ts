// The answer follows a schema, and the output has its type.
import { createMuster } from 'muster-agent';
import { z } from 'zod';

const Finding = z.object({
  file: z.string(),
  severity: z.enum(['low', 'high']),
});

await using muster = await createMuster({
  model: 'anthropic/claude-sonnet-4-5',
  environment: process.env,
});
const { output, error } = await muster.run('Review the last commit.', {
  agent: 'Review',
  outputSchema: z.object({ findings: z.array(Finding) }),
  budget: { usd: 1, seconds: 300 },
});
if (output === null) throw new Error(error?.message ?? 'the answer does not follow the schema');
for (const { file, severity } of output.findings) console.log(severity, file);
