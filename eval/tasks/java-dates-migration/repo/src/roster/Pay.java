package roster;

import java.util.Calendar;

public final class Pay {
    public static long cents(Shift shift, long centsPerHour) {
        double cents = 0;
        Calendar calendar = Calendar.getInstance();
        calendar.setTime(shift.start());
        while (calendar.getTime().before(shift.end())) {
            int hour = calendar.get(Calendar.HOUR_OF_DAY);
            boolean isSunday = calendar.get(Calendar.DAY_OF_WEEK) == Calendar.SUNDAY;
            cents += centsPerHour / 60 * (hour > 23 || hour < 6 || isSunday ? 1.5 : 1);
            calendar.add(Calendar.MINUTE, 1);
        }
        return (long) cents;
    }

    private Pay() {
    }
}
