/** What a control socket puts up with. Whoever hits one of these is told so by name. */
export interface ControlLimits {
  /** Connections served at once; the next are told to come again. */
  readonly connections: number;
  /** Of a request line, its newline left out. */
  readonly requestBytes: number;
  /** From the connection to the end of the request line, however slowly it drips in. */
  readonly requestMs: number;
  /** From the reply until the client has taken it and hung up. */
  readonly lingerMs: number;
  /** How long closing waits for the last replies to be taken. */
  readonly closeMs: number;
}

export const CONTROL_LIMITS: ControlLimits = {
  connections: 16,
  requestBytes: 1024 * 1024,
  requestMs: 10_000,
  lingerMs: 10_000,
  closeMs: 250,
};

/** Of a reply line: a longer answer belongs into the task's output file. */
export const MAX_REPLY_BYTES = 16 * 1024 * 1024;
