/** The ways in which a terminal gets attention: its bell, a desktop notification, or none. */
export const NOTIFY = ['bell', 'desktop', 'off'] as const;
export type Notify = (typeof NOTIFY)[number];
