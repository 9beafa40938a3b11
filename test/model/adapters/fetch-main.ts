// A process of its own: what it trusts and which proxy it uses holds for a whole process.
import { setImmediate } from 'node:timers/promises';
import { errorMessage } from '../../../src/base/errors.ts';
import { readEnvironment } from '../../../src/sys/env.ts';
import { createHttpFetch } from '../../../src/sys/http/http-fetch.ts';

const [url = '', times = '1', before = ''] = process.argv.slice(2);
// Takes the place of Node's own agent in the process.
if (before === 'undici') await import('undici');
const fetch = createHttpFetch(readEnvironment());
const seen: string[] = [];
for (let count = 0; count < Number(times); count += 1) {
  try {
    const response = await fetch(
      url,
      { method: 'POST', body: 'question' },
      { connected: () => seen.push('connected'), bytes: () => seen.push('bytes') },
    );
    seen.push(await response.text());
    // The connection is free again a moment after the body's end.
    await setImmediate();
  } catch (thrown) {
    const cause: unknown = thrown instanceof Error ? thrown.cause : undefined;
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    seen.push(`${errorMessage(thrown)} ${code}`.trim());
  }
}
process.stdout.write(JSON.stringify(seen));
