/** The keys by which `muster usage` adds up. */
export const USAGE_KEYS = ['task', 'tree', 'type', 'model', 'day'] as const;
export type UsageKey = (typeof USAGE_KEYS)[number];
