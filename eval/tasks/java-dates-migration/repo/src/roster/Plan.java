package roster;

import java.util.ArrayList;
import java.util.Calendar;
import java.util.Comparator;
import java.util.Date;
import java.util.List;

public final class Plan {
    private final List<Shift> shifts = new ArrayList<>();

    public void add(Shift shift) {
        for (Shift other : shifts) {
            if (other.person().equals(shift.person()) && other.overlaps(shift)) {
                throw new IllegalArgumentException("the shift overlaps another one of " + shift.person());
            }
        }
        shifts.add(shift);
    }

    /** The shifts that start on this day. */
    public List<Shift> on(Date day) {
        Calendar calendar = Calendar.getInstance();
        calendar.setTime(day);
        calendar.set(Calendar.HOUR, 0);
        calendar.set(Calendar.MINUTE, 0);
        Date from = calendar.getTime();
        Date to = new Date(from.getTime() + 24 * 3600 * 1000);
        List<Shift> found = new ArrayList<>();
        for (Shift shift : shifts) {
            if (!shift.start().before(from) && shift.start().before(to)) {
                found.add(shift);
            }
        }
        found.sort(Comparator.comparing(Shift::start));
        return found;
    }

    /** The next shift of a person, or null. */
    public Shift next(String person) {
        Shift next = null;
        for (Shift shift : shifts) {
            boolean isLater = shift.person().equals(person) && shift.start().after(new Date());
            if (isLater && (next == null || shift.start().before(next.start()))) {
                next = shift;
            }
        }
        return next;
    }
}
