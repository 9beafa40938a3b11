/**
 * The ways to get a person's attention: the bell of the terminal, a desktop notification, or none. `notify` is another
 * word for `desktop`.
 */
export const NOTIFY = ['bell', 'desktop', 'notify', 'off'] as const;
export type Notify = (typeof NOTIFY)[number];
