/** A login to an MCP server: its tokens, and what is needed to renew and to revoke them. Never shown to anyone. */
export interface McpLogin {
  /** The address of the server to which the tokens may be sent. See `McpLoginStore`. */
  readonly server: string;
  /** The authorization server that issued the tokens. The tokens go to no other one. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  /** The way in which the client proves who it is, as in `token_endpoint_auth_methods_supported`. */
  readonly authMethod: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string | null;
  /** The resource for which the tokens are valid, as the server names it. */
  readonly resource: string | null;
  /** The scopes with blanks between them. Null if nobody named any. */
  readonly scope: string | null;
  readonly accessToken: string;
  readonly refreshToken: string | null;
  /** The time at which the access token expires, in milliseconds since the epoch. Null if it is not known. */
  readonly expiresAt: number | null;
}

/** A server's demand for a login, as its answer with the status 401 or 403 states it. */
export interface LoginDemand {
  /** The scopes that the server demands, with blanks between them. */
  readonly scope: string | null;
  /** The address of the document that names the authorization servers. */
  readonly resourceMetadataUrl: string | null;
}

/** A server, by its address without a fragment, with what is known about the login to it. */
export interface KnownLogin {
  readonly login: McpLogin | null;
  /** The demand that no login has met yet; null if there is none. */
  readonly demand: LoginDemand | null;
}

/** The stored logins. Methods throw or reject with MusterError if the store cannot be used. */
export interface McpLoginStore {
  read(server: string): Promise<KnownLogin>;
  /** Stores the tokens of a new login, which replaces an earlier one and meets the demand of the server. */
  add(login: McpLogin): Promise<void>;
  /** Stores renewed tokens, unless the login has been removed or replaced in the meantime. */
  renew(login: McpLogin): Promise<void>;
  noteDemand(server: string, demand: LoginDemand): void;
  /** Runs `work` while no other process renews the tokens for the server. */
  withLock<T>(server: string, work: () => Promise<T>): Promise<T>;
}
