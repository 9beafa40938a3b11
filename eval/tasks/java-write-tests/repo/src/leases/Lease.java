package leases;

/**
 * The right of an owner to use a name for a time.
 *
 * @param token identifies this lease; a lease that is given later has a larger one
 * @param end the lease is active while the time is below this, in milliseconds
 */
public record Lease(String name, String owner, long token, long end) {
}
