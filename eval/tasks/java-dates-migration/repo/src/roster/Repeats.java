package roster;

import java.util.ArrayList;
import java.util.Calendar;
import java.util.Date;
import java.util.List;

public final class Repeats {
    private static final long WEEK = 7L * 24 * 3600 * 1000;

    public static List<Shift> weekly(Shift first, int count) {
        List<Shift> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(new Shift(first.person(), new Date(first.start().getTime() + i * WEEK), new Date(first.end().getTime() + i * WEEK)));
        }
        return all;
    }

    public static List<Date> monthly(Date first, int count) {
        List<Date> all = new ArrayList<>();
        Calendar calendar = Calendar.getInstance();
        calendar.setTime(first);
        for (int i = 0; i < count; i++) {
            all.add(calendar.getTime());
            calendar.add(Calendar.MONTH, 1);
        }
        return all;
    }

    private Repeats() {
    }
}
