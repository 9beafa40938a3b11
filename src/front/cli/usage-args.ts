import { quoted } from '../../config/quote.ts';
import { USAGE_KEYS } from '../../api/tasks/usage-keys.ts';
import { UsageError } from '../../base/errors.ts';
import type { Since, UsageCommand } from './command.ts';
import type { FlagReader } from './flag-reader.ts';

const DAYS = /^([1-9]\d{0,4})d$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The arguments of `muster usage`. Throws UsageError. */
export function parseUsage([task]: readonly string[], flags: FlagReader): UsageCommand {
  const since = flags.text('since');
  return {
    kind: 'usage',
    task: task ?? null,
    by: flags.choice('by', USAGE_KEYS, 'model'),
    since: since === null ? null : sinceOf(since),
    all: flags.given('all'),
    json: flags.given('json'),
    dataDir: flags.text('data-dir'),
  };
}

function sinceOf(text: string): Since {
  const days = DAYS.exec(text)?.[1];
  if (days !== undefined) return { days: Number(days) };
  if (isDay(text)) return { day: text };
  throw new UsageError(
    `--since must be a day like 2026-03-01, or a number of days like 7d, not ${quoted(text)}`,
  );
}

/** One that the calendar has: `Date` takes 30 February for the first days of March. */
function isDay(text: string): boolean {
  if (!DAY.test(text)) return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}
