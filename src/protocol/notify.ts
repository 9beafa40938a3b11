/** The ways to get a person's attention: the bell of the terminal, a desktop notification, or none. */
export const NOTIFY = ['bell', 'desktop', 'off'] as const;
export type Notify = (typeof NOTIFY)[number];
