/** The limits of a control socket. A client that exceeds one gets an error that names it. */
export interface ControlLimits {
  /** The most connections served at once. Further clients are told to try again. */
  readonly connections: number;
  /** The most bytes of a request line, without its newline. */
  readonly requestBytes: number;
  /** The time from the connection to the end of the request line. */
  readonly requestMs: number;
  /** The time from the reply until the client has read it and hung up. */
  readonly lingerMs: number;
  /** The time that closing waits for the last replies to be read. */
  readonly closeMs: number;
}

export const CONTROL_LIMITS: ControlLimits = {
  connections: 16,
  requestBytes: 1024 * 1024,
  requestMs: 10_000,
  lingerMs: 10_000,
  closeMs: 250,
};

/** The most bytes of a reply line. A longer answer belongs in the task's output file. */
export const MAX_REPLY_BYTES = 16 * 1024 * 1024;
