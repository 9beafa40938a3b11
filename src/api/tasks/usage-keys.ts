/** The keys by which `muster usage` groups the usage. */
export const USAGE_KEYS = ['task', 'tree', 'type', 'model', 'outcome', 'day'] as const;
export type UsageKey = (typeof USAGE_KEYS)[number];
