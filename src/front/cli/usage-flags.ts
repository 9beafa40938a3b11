import { USAGE_KEYS } from '../../protocol/usage-keys.ts';

/** The flags of `muster usage`. */
export const USAGE_FLAGS = {
  by: {
    value: 'WHAT',
    help: `${USAGE_KEYS.join(', ')} (default: model); several with commas, for their combinations`,
    completes: { words: USAGE_KEYS },
  },
  since: {
    value: 'DAY',
    help: 'from this day on: YYYY-MM-DD, or 7d for the last 7 days (days of UTC)',
  },
};
