/**
 * Stands in logs, and in what a model is shown, for a secret. No tool writes it into a file that did
 * not hold it: the secret there would be lost.
 */
export const REDACTED = '[redacted by Muster]';
