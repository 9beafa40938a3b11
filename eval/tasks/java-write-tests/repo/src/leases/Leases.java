package leases;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Gives names to owners for a limited time. All times are milliseconds that the caller passes in. */
public final class Leases {
    private final int maxPerOwner;
    private final Map<String, Lease> leases = new HashMap<>();
    private long lastToken = 0;

    /**
     * @param maxPerOwner the most active leases of one owner at a time
     * @throws IllegalArgumentException if it is below 1
     */
    public Leases(int maxPerOwner) {
        if (maxPerOwner < 1) {
            throw new IllegalArgumentException("maxPerOwner: " + maxPerOwner);
        }
        this.maxPerOwner = maxPerOwner;
    }

    /**
     * Gives a name that is free, or whose lease has ended, to an owner, with a new token. If the owner has it already, the
     * lease keeps its token and lasts until the later one of its present end and the new end. If another owner has it, the
     * answer is empty and nothing changes. An end beyond Long.MAX_VALUE is Long.MAX_VALUE.
     *
     * @throws IllegalArgumentException if ttl is not above 0; nothing changes
     * @throws IllegalStateException if the owner has as many active leases of other names as allowed and the name is not
     *     another owner's; nothing changes
     */
    public Optional<Lease> acquire(String name, String owner, long now, long ttl) {
        long end = endOf(now, ttl);
        Lease present = leases.get(name);
        boolean isActive = present != null && now < present.end();
        if (isActive && !present.owner().equals(owner)) {
            return Optional.empty();
        }
        if (isActive) {
            Lease longer = new Lease(name, owner, present.token(), Math.max(present.end(), end));
            leases.put(name, longer);
            return Optional.of(longer);
        }
        long count = leases.values().stream()
            .filter(lease -> lease.owner().equals(owner) && now < lease.end())
            .count();
        if (count >= maxPerOwner) {
            throw new IllegalStateException(owner + " has " + count + " leases");
        }
        lastToken++;
        Lease lease = new Lease(name, owner, lastToken, end);
        leases.put(name, lease);
        return Optional.of(lease);
    }

    /**
     * Sets the end of an active lease to now + ttl, also if that is earlier than before. Returns false, and changes nothing,
     * if the name has no active lease with this token.
     *
     * @throws IllegalArgumentException if ttl is not above 0; nothing changes
     */
    public boolean renew(String name, long token, long now, long ttl) {
        long end = endOf(now, ttl);
        Lease present = leases.get(name);
        if (present == null || present.token() != token || now >= present.end()) {
            return false;
        }
        leases.put(name, new Lease(name, present.owner(), token, end));
        return true;
    }

    /** Removes the lease of a name, also one that has ended. Returns false, and changes nothing, if it has another token. */
    public boolean release(String name, long token) {
        Lease present = leases.get(name);
        if (present == null || present.token() != token) {
            return false;
        }
        leases.remove(name);
        return true;
    }

    /** Lists the active leases by their end, then by name. The list does not follow later changes. */
    public List<Lease> active(long now) {
        List<Lease> active = new ArrayList<>();
        for (Lease lease : leases.values()) {
            if (now < lease.end()) {
                active.add(lease);
            }
        }
        active.sort(Comparator.comparingLong(Lease::end).thenComparing(Lease::name));
        return active;
    }

    /** Removes the leases that have ended, and returns how many these were. */
    public int sweep(long now) {
        int before = leases.size();
        leases.values().removeIf(lease -> now >= lease.end());
        return before - leases.size();
    }

    private static long endOf(long now, long ttl) {
        if (ttl <= 0) {
            throw new IllegalArgumentException("ttl: " + ttl);
        }
        long end = now + ttl;
        return end < now ? Long.MAX_VALUE : end;
    }
}
