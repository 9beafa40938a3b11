/** Muster's version; the build and a test keep it equal to the package's. */
export const VERSION = '0.1.0';
