/** A style sheet, which the build of the page adds to its one file. */
declare module '*.css' {}
