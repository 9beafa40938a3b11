/** How a terminal calls somebody who looks elsewhere: its bell, a notification of the desktop, or not at all. */
export const NOTIFY = ['bell', 'desktop', 'off'] as const;
export type Notify = (typeof NOTIFY)[number];
