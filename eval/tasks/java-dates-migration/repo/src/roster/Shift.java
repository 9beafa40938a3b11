package roster;

import java.util.Date;

public final class Shift {
    private final String person;
    private final Date start;
    private final Date end;

    public Shift(String person, Date start, Date end) {
        this.person = person;
        this.start = start;
        this.end = end;
    }

    public String person() {
        return person;
    }

    public Date start() {
        return start;
    }

    public Date end() {
        return end;
    }

    /** In minutes. */
    public long length() {
        return (end.getTime() - start.getTime()) / 60000;
    }

    public boolean overlaps(Shift other) {
        return !start.after(other.end) && !other.start.after(end);
    }
}
